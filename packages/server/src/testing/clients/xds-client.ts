import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { patienceMs, waitFor } from "../basics/wait-for.js";
import type { RawStream } from "./raw-client.js";

/**
 * A raw stream that speaks in messages. The messages of v2 have the same fields, so v3's schemas read and write both.
 */
interface XdsStream<Request, Response> {
  send(request: Request): void;
  /** The next response that was not yet taken; throws if none comes in time. */
  next(timeoutMs?: number): Promise<Response>;
  /** How many responses came in all. */
  readonly count: number;
}

export type SotwStream = XdsStream<MessageInitShape<typeof DiscoveryRequestSchema>, DiscoveryResponse>;
export type DeltaStream = XdsStream<MessageInitShape<typeof DeltaDiscoveryRequestSchema>, DeltaDiscoveryResponse>;

/** Speaks state of the world over a raw stream. */
export function sotw(stream: RawStream): SotwStream {
  return speak(
    stream,
    (request) => toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)),
    (bytes) => fromBinary(DiscoveryResponseSchema, bytes),
  );
}

/** Speaks incremental discovery over a raw stream. */
export function delta(stream: RawStream): DeltaStream {
  return speak(
    stream,
    (request) => toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)),
    (bytes) => fromBinary(DeltaDiscoveryResponseSchema, bytes),
  );
}

function speak<Request, Response>(
  stream: RawStream,
  write: (request: Request) => Uint8Array,
  read: (bytes: Uint8Array) => Response,
): XdsStream<Request, Response> {
  let taken = 0;
  return {
    send: (request) => stream.send(write(request)),
    async next(timeoutMs = patienceMs) {
      await waitFor(`response ${taken + 1}`, () => stream.responses.length > taken, timeoutMs);
      const bytes = stream.responses[taken];
      taken += 1;
      return read(bytes ?? new Uint8Array());
    },
    get count() {
      return stream.responses.length;
    },
  };
}
