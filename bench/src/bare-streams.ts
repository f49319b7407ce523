import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { Accept, CallHandler, Transport, XdsServer } from "@xdskit/server";

/** The request of a stream: all of a type, or names of it. */
export interface Wish {
  readonly variant: SotwOrDelta;
  /** `cluster`, `endpoint` … */
  readonly type: string;
  readonly names: readonly string[];
}

/**
 * Clients without a network that acknowledge all they get at once. Their own work is next to nothing, and
 * written by hand.
 */
export interface BareStreams {
  /** The number of responses to all streams. */
  readonly responses: number;
  /** The received bodies, each once however many streams it went to; for the caller to clear. */
  readonly bodies: Set<Uint8Array>;
  open(node: string, wish: Wish): void;
}

/** Lets streams in without a network. */
export async function createBareStreams(server: XdsServer): Promise<BareStreams> {
  const handlers: CallHandler[] = [];
  const bodies = new Set<Uint8Array>();
  let accept: Accept | undefined;
  let responses = 0;
  const transport: Transport = {
    async listen(address, take) {
      accept = take;
      return address;
    },
    async close() {
      for (const handler of handlers) handler.closed();
    },
  };
  await server.listenOn(transport, "nowhere");
  return {
    get responses() {
      return responses;
    },
    bodies,
    open(node, { variant, type, names }) {
      const { first, acknowledgement } = requestsOf(node, variant, urlOf(type), names);
      const opened = accept?.({
        method: { variant, api: "v3", only: undefined, unary: false },
        peer: "nowhere",
        send(body, tail) {
          responses += 1;
          bodies.add(body);
          // As over a network, the answer comes later.
          setImmediate(() => handler.received(acknowledgement(body, tail)));
          return true;
        },
        end(code, message) {
          if (code !== 0) throw new Error(`the stream ended with ${code}: ${message}`);
        },
      });
      if (opened === undefined || !("received" in opened)) throw new Error("the stream was refused");
      const handler = opened;
      handlers.push(handler);
      handler.received(first);
    },
  };
}

function urlOf(name: string): string {
  const type = resourceTypes.find(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type.typeUrl;
}

/** The nonce is field 5 of both responses, and the last; it is field 5 of the one request and 6 of the other. */
function requestsOf(id: string, variant: SotwOrDelta, typeUrl: string, names: readonly string[]) {
  const node = { id };
  if (variant === "delta") {
    const asked = { node, typeUrl, resourceNamesSubscribe: [...names] };
    const first = toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, asked));
    const rest = toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { typeUrl }));
    return { first, acknowledgement: (_: Uint8Array, tail: Uint8Array) => joined(rest, withTag(tail, 6)) };
  }
  const asked = { typeUrl, resourceNames: [...names] };
  const first = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { ...asked, node }));
  const rest = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, asked));
  const acknowledgement = (body: Uint8Array, tail: Uint8Array) => {
    // The version is field 1 of both, and comes first.
    const version = body.subarray(0, 2 + (body[1] ?? 0));
    return joined(version, rest, withTag(tail, 5));
  };
  return { first, acknowledgement };
}

function withTag(field: Uint8Array, number: number): Uint8Array {
  const copy = field.slice();
  if (copy[0] !== ((5 << 3) | 2)) throw new Error("the tail of a response is not its nonce");
  copy[0] = (number << 3) | 2;
  return copy;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
