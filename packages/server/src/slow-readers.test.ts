import assert from "node:assert/strict";
import { connect } from "node:http2";
import { describe, it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Variant } from "@xdskit/protocol";
import { type Running, urlOf, withServer } from "./testing/running-server.js";
import { cluster } from "./testing/test-resources.js";
import { waitFor } from "./testing/wait-for.js";

const typeUrl = urlOf("cluster");
/** What HTTP/2 allows a server to send before its client reads, where the client says nothing else. */
const windowBytes = 65_535;

interface Follower {
  /** Which changes it was told of, in order. */
  readonly seen: readonly number[];
  pause(): void;
  resume(): void;
  close(): void;
}

/** A client on a connection of its own that asks for all clusters, and acknowledges what it reads. */
function follow(address: string, variant: Variant): Follower {
  const session = connect(`http://${address}`, { settings: { initialWindowSize: windowBytes } });
  const path = variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
  const stream = session.request({
    ":method": "POST",
    ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${path}`,
    "content-type": "application/grpc",
    te: "trailers",
  });
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

function read(variant: Variant, bytes: Uint8Array): { readonly nonce: string; readonly text: string } {
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

const sentBy = ({ server }: Running) => server.stats().types.reduce((sum, { responses }) => sum + responses, 0);
const behindOf = ({ server }: Running) => server.stats().streams.reduce((sum, { behind }) => sum + behind, 0);

/** One of two clients stops to read, while the other follows many changes; then it goes on. */
async function stall(running: Running, variant: Variant, bytes: number, changes: number) {
  const { server, address } = running;
  const publish = (change: number) => server.config.set([cluster("a", `${change} ${"x".repeat(bytes)}`)]);
  publish(0);
  const healthy = follow(address, variant);
  const stalled = follow(address, variant);
  try {
    await waitFor("the first answers", () => healthy.seen.length === 1 && stalled.seen.length === 1);
    stalled.pause();
    for (let change = 1; change <= changes; change++) {
      publish(change);
      // In a worker of its own the other one is told of it later, or of two changes as one.
      const isTold = () => behindOf(running) > 0 || sentBy(running) === 2 * (change + 1);
      await waitFor(`change ${change}`, () => healthy.seen.at(-1) === change && isTold());
    }
    const sent = sentBy(running) - healthy.seen.length;
    const behind = behindOf(running);
    stalled.resume();
    await waitFor("the newest", () => stalled.seen.at(-1) === changes);
    return { sent, behind, seen: stalled.seen };
  } finally {
    healthy.close();
    stalled.close();
  }
}

describe("a client that stops to read", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`holds one response that does not fit its window, and gets one composed change when it goes on (${variant})`, () =>
      withServer({}, async (running) => {
        const { sent, behind, seen } = await stall(running, variant, 200_000, 40);
        // The first, and the one of which its window took the beginning.
        assert.deepEqual({ sent, behind, seen }, { sent: 2, behind: 1, seen: [0, 1, 40] });
      }));

    it(`holds what fits its window and one response more, whatever changes meanwhile (${variant})`, () =>
      withServer({}, async (running) => {
        const { behind, seen } = await stall(running, variant, 2_000, 120);
        assert.equal(behind, 1);
        const before = seen.length - 1;
        // One after another until the window is full, and then nothing but the newest.
        assert.deepEqual(seen, [...Array.from({ length: before }, (_, change) => change), 120]);
        assert.ok(before <= windowBytes / 2_000 + 2, `${before} responses went out`);
      }));
  }
});
