import assert from "node:assert/strict";
import { it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { resourceTypes } from "@xdskit/api";
import { defaultKeepalive } from "@xdskit/grpc-server";
import type { Transport } from "../../contracts/transport.js";
import { createServer } from "../../create-server.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { type Follower, follow } from "../../testing/follower.js";
import { cluster } from "../../testing/test-resources.js";
import { createGrpcTransport } from "../../transports/grpc/grpc-transport.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The bytes of shared responses that all streams of a process may keep. */
const sharedBytes = 32 * 1024 * 1024;

/** A gRPC transport that knows which of its responses are still in memory. */
function watched(): { readonly transport: Transport; aliveBytes(): number; sentBytes(): number } {
  const grpc = createGrpcTransport({ types: resourceTypes, keepalive: defaultKeepalive, requestBytes: 1 << 20 });
  const bodies = new Set<WeakRef<Uint8Array>>();
  const known = new WeakSet<Uint8Array>();
  let sentBytes = 0;
  const transport: Transport = {
    ...grpc,
    listen: (address, accept, services) =>
      grpc.listen(
        address,
        (connection) =>
          accept({
            method: connection.method,
            peer: connection.peer,
            end: (code, message) => connection.end(code, message),
            send(body, tail, again) {
              if (!known.has(body)) {
                known.add(body);
                bodies.add(new WeakRef(body));
                sentBytes += body.length;
              }
              return connection.send(body, tail, again);
            },
          }),
        services,
      ),
  };
  const aliveBytes = () => Array.from(bodies, (body) => body.deref()?.length ?? 0).reduce((sum, one) => sum + one, 0);
  return { transport, aliveBytes, sentBytes: () => sentBytes };
}

it("streams that stall at different changes keep no copies of responses, and still get them whole", async () => {
  const streams = 45;
  const server = createServer({});
  const { transport, aliveBytes, sentBytes } = watched();
  const address = await server.listenOn(transport, "127.0.0.1:0");
  const ballast = Array.from({ length: 20 }, (_, index) => cluster(`b${index}`, "x".repeat(50_000)));
  const publish = (change: number) => server.config.set([cluster("a", `${change}`), ...ballast]);
  const behind = () => server.stats().streams.reduce((sum, { behind }) => sum + behind, 0);
  const stalled: Follower[] = [];
  try {
    publish(0);
    for (let change = 1; change <= streams; change++) {
      // Two streams in the same state, so that one repeats the other's response.
      const [reading, stalling] = [follow(address, "sotw"), follow(address, "sotw")];
      stalled.push(stalling);
      await waitFor("the first answers", () => reading.seen.length === 1 && stalling.seen.length === 1);
      stalling.pause();
      publish(change);
      await waitFor("the change", () => reading.seen.length === 2 && behind() === change);
      reading.close();
    }
    const most = sharedBytes + 2 * 1_000_000;
    assert.ok(sentBytes() > most + 8_000_000, `${sentBytes()} bytes were sent`);
    for (let attempt = 0; attempt < 20 && aliveBytes() > most; attempt++) {
      await new Promise((resolve) => setTimeout(resolve));
      collect();
    }
    assert.ok(aliveBytes() <= most, `${aliveBytes()} bytes of ${sentBytes()} are kept`);

    for (const one of stalled) one.resume();
    await waitFor("the newest", () => stalled.every(({ seen }) => seen.at(-1) === streams));
    assert.deepEqual(
      stalled.map(({ seen }) => seen),
      Array.from({ length: streams }, (_, index) => [...new Set([index, index + 1, streams])]),
    );
  } finally {
    for (const one of stalled) one.close();
    await server.close({ timeoutMs: 500 });
  }
});
