import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { getDefaultHighWaterMark, setDefaultHighWaterMark } from "node:stream";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";
import { urlOf } from "./running-server.js";

const typeUrl = urlOf("cluster");

/** The bytes that HTTP/2 allows a server to send before its client reads, by default. */
export const windowBytes = 65_535;

/** A client that reads when it is told to. */
export interface Follower {
  /** The changes that it received, in order. */
  readonly seen: readonly number[];
  pause(): void;
  resume(): void;
  close(): void;
}

/** A client on a connection of its own that asks for all clusters, and acknowledges what it reads. */
export function follow(address: string, variant: SotwOrDelta): Follower {
  const session = connect(`http://${address}`, { settings: { initialWindowSize: windowBytes } });
  const path = variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
  const stream = openStream(session, `/envoy.service.discovery.v3.AggregatedDiscoveryService/${path}`);
  session.on("error", () => {});
  stream.on("error", () => {});
  const seen: number[] = [];
  let waiting = Buffer.alloc(0);
  stream.on("data", (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes]);
    while (waiting.length >= 5 && waiting.length >= 5 + waiting.readUInt32BE(1)) {
      const end = 5 + waiting.readUInt32BE(1);
      const { nonce, text } = read(variant, waiting.subarray(5, end));
      seen.push(Number.parseInt(text, 10));
      waiting = waiting.subarray(end);
      send(nonce);
    }
  });
  function send(responseNonce: string) {
    const request = { node: { id: "n1" }, typeUrl, responseNonce };
    const bytes =
      variant === "sotw"
        ? toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request))
        : toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(bytes.length, 1);
    stream.write(Buffer.concat([prefix, bytes]));
  }
  send("");
  return {
    seen,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close: () => session.destroy(),
  };
}

/**
 * A stream that takes less than half its window beyond what is read of it, so that the client does not open the window
 * again while it is paused. Since 22 Node's take 64 KiB, and a request has no setting for it.
 */
function openStream(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  const usual = getDefaultHighWaterMark(false);
  setDefaultHighWaterMark(false, 16_384);
  try {
    return session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
  } finally {
    setDefaultHighWaterMark(false, usual);
  }
}

function read(variant: SotwOrDelta, bytes: Uint8Array): { readonly nonce: string; readonly text: string } {
  if (variant === "sotw") {
    const { nonce, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    return { nonce, text: textOf(resources[0]?.value) };
  }
  const { nonce, resources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  return { nonce, text: textOf(resources[0]?.resource?.value) };
}

function textOf(bytes: Uint8Array | undefined): string {
  return fromBinary(ClusterSchema, bytes ?? new Uint8Array()).altStatName;
}
