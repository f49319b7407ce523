import type { ResourceName, ResourceType } from "@xdskit/api";
import type { ClientStreamOptions } from "@xdskit/protocol";
import { type ClientStreamEvent, createClientStream, statusCode } from "@xdskit/protocol";
import type { Upstream, UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { DiscoveryStream } from "./discovery-stream.js";
import { pathOf } from "./methods.js";
import type { StreamTransport } from "./stream-transport.js";

export interface StreamUpstreamOptions
  extends Pick<ClientStreamOptions, "variant" | "api" | "keepRemoved" | "dropRejected"> {
  readonly server: string;
  readonly aggregated: boolean;
  readonly transport: StreamTransport;
}

/** A server that is reached by streams: one for all types (ADS), or one for each type. */
export function createStreamUpstream(
  { server, variant, api, aggregated, transport, keepRemoved, dropRejected }: StreamUpstreamOptions,
  context: UpstreamContext,
  sink: UpstreamSink,
): Upstream {
  const { types, registry, node, nodeOn, check, limits, absentAfterMs, clock } = context;
  /** By type; ADS has one, under undefined. */
  const streams = new Map<ResourceType | undefined, DiscoveryStream>();
  let closing: Promise<void> | undefined;

  function streamOf(type: ResourceType): DiscoveryStream {
    const only = aggregated ? undefined : type;
    const known = streams.get(only);
    if (known !== undefined) return known;
    const machine = createClientStream({
      variant,
      api,
      types,
      registry,
      only,
      node,
      nodeOn,
      check,
      limits,
      absentAfterMs,
      keepRemoved,
      dropRejected,
      answers: sink.acknowledge === undefined ? "at-once" : "when-told",
    });
    const method = { variant, api, only };
    const stream = new DiscoveryStream({ server, machine, method, transport, context, sink });
    streams.set(only, stream);
    return stream;
  }

  function tell(stream: DiscoveryStream, event: ClientStreamEvent): void {
    stream.touched(stream.machine.step(event, clock.now()));
  }

  /** Whether a type can be asked for in this way and version. */
  const isServed = (type: ResourceType) =>
    pathOf({ variant, api, only: aggregated ? undefined : type }) !== undefined &&
    (api === "v3" || type.v2TypeUrl !== undefined);

  function refuse(type: ResourceType, names: readonly ResourceName[]): void {
    const how = aggregated ? `in ${api}` : `as a ${variant} service of its own in ${api}`;
    const message = `the type ${type.name} does not exist ${how}`;
    // No server was asked, so this is not the server's answer.
    queueMicrotask(() => {
      if (closing !== undefined) return;
      const absent = names.map((name) => {
        return { name, reason: "told" as const, error: { name, code: statusCode.unimplemented, message } };
      });
      void sink.update({ type, upserted: [], removed: [], absent, failing: [] });
    });
  }

  return {
    server,
    subscribe(type, names) {
      if (isServed(type)) tell(streamOf(type), { kind: "subscribe", type, names });
      else refuse(type, names);
    },
    unsubscribe(type, names) {
      if (isServed(type)) tell(streamOf(type), { kind: "unsubscribe", type, names });
    },
    hold(type, resources, version, isAll) {
      if (isServed(type)) tell(streamOf(type), { kind: "hold", type, resources, version, isAll });
    },
    forgetVersions(type) {
      for (const [only, stream] of streams)
        if (type === undefined || only === undefined || only === type) tell(stream, { kind: "forget-versions" });
    },
    status: () => Array.from(streams.values(), ({ machine }) => machine.status()).flat(),
    close() {
      closing ??= Promise.all(Array.from(streams.values(), (stream) => stream.close())).then(() => transport.close());
      return closing;
    },
  };
}
