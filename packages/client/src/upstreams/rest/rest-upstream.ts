import { type ResourceType, XdskitError } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import { type ClientStreamEvent, createClientStream } from "@xdskit/protocol";
import type { RestServerSettings } from "../../options/client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { Polling } from "./polling.js";
import { createPoster } from "./poster.js";
import { createUnreadResources } from "./unread-resources.js";

/**
 * Polls a server over REST-JSON, type by type, at most one poll of a type at a time (rules 140, 149, 150). Throws an
 * XdskitError for invalid settings.
 */
export function createRestUpstream(
  settings: RestServerSettings,
  context: UpstreamContext,
  sink: UpstreamSink,
): Upstream {
  const { types, registry, node, check, limits, absentAfterMs, clock } = context;
  const { api = "v3", refreshDelayMs = defaultRefreshDelayMs } = settings;
  const poster = createPoster({ settings, clock, limit: limits.responseBytes });
  const reading = new ReadingThread({ registry, types });
  const polls = new Map<ResourceType, Polling>();
  let closing: Promise<void> | undefined;

  function pollingOf(type: ResourceType): Polling | undefined {
    const known = polls.get(type);
    if (known !== undefined) return known;
    if (type.restPath === undefined || (api === "v2" && type.v2TypeUrl === undefined)) return undefined;
    const unread = createUnreadResources(check);
    const machine = createClientStream({
      variant: "sotw",
      api,
      types,
      registry,
      only: type,
      node,
      limits,
      absentAfterMs,
      // Each poll may reach another server.
      nodeOn: "every",
      check: unread.check,
      answers: sink.acknowledge === undefined ? "at-once" : "when-told",
    });
    const path = `/${api}/discovery:${type.restPath}`;
    const polling = new Polling({ type, path, api, refreshDelayMs, machine, poster, unread, reading, context, sink });
    polls.set(type, polling);
    return polling;
  }

  function tell(type: ResourceType, event: ClientStreamEvent): void {
    pollingOf(type)?.tell(event);
  }

  return {
    server: poster.server,
    subscribe(type, names) {
      if (pollingOf(type) !== undefined) tell(type, { kind: "subscribe", type, names });
      else queueMicrotask(() => closing === undefined && sink.failed(type, unsupported(type, api), false));
    },
    unsubscribe: (type, names) => tell(type, { kind: "unsubscribe", type, names }),
    hold: (type, resources, version, isAll) => tell(type, { kind: "hold", type, resources, version, isAll }),
    forgetVersions(type) {
      for (const [only, polling] of polls)
        if (type === undefined || only === type) polling.tell({ kind: "forget-versions" });
    },
    status: () => [...polls.values()].flatMap((polling) => polling.status()),
    close() {
      closing ??= Promise.all(Array.from(polls.values(), (polling) => polling.close())).then(() => {
        reading.close();
        return poster.close();
      });
      return closing;
    },
  };
}

const defaultRefreshDelayMs = 1_000;

function unsupported(type: ResourceType, api: string): XdskitError {
  const why = type.restPath === undefined ? "has no path over REST" : `does not exist in ${api}`;
  return XdskitError.of("XDSKIT_POLL_UNSUPPORTED", `${type.abbreviation.toUpperCase()} ${why}`, { type: type.name });
}
