import assert from "node:assert/strict";
import { constants as http2 } from "node:http2";
import { describe, test } from "node:test";
import { has, odd, send } from "../testing/odd/odd-client.js";
import { oddCluster, responseBytes } from "../testing/odd/odd-responses.js";
import { createOddServer, type OddStream } from "../testing/odd/odd-server.js";
import { watchCluster, watchClusters } from "../testing/told.js";
import { waitFor } from "../testing/wait-for.js";

/** Wrong ends of a stream that was well before. */
const ends: readonly (readonly [what: string, end: (stream: OddStream) => void])[] = [
  ["ends with OK", (stream) => stream.end(0)],
  ["ends with an error", (stream) => stream.end(14, "no more")],
  ["is reset", (stream) => stream.reset(http2.NGHTTP2_INTERNAL_ERROR)],
  ["is refused", (stream) => stream.reset(http2.NGHTTP2_REFUSED_STREAM)],
  [
    "is reset in the middle of a response",
    (stream) => {
      stream.write(Uint8Array.of(0, 0, 0, 100, 0, 1, 2, 3));
      stream.reset(http2.NGHTTP2_CANCEL);
    },
  ],
  [
    "ends in the middle of a response",
    (stream) => {
      stream.write(Uint8Array.of(0, 0, 0, 100, 0, 1, 2, 3));
      stream.end(0);
    },
  ],
  ["loses its connection", (stream) => stream.destroy()],
  [
    "ends after GOAWAY",
    (stream) => {
      stream.goAway();
      stream.end(0);
    },
  ],
  ["brings what is no message", (stream) => stream.send(Uint8Array.of(255, 255, 255, 255))],
  ["brings a frame that says to be compressed", (stream) => stream.write(Uint8Array.of(1, 0, 0, 0, 1, 7))],
  ["brings a frame longer than any", (stream) => stream.write(Uint8Array.of(0, 255, 255, 255, 255, 1))],
  [
    "brings random bytes",
    (stream) => stream.write(Uint8Array.from({ length: 1000 }, (_, index) => (index * 7919 + 129) % 256)),
  ],
];

for (const variant of ["sotw", "delta"] as const) {
  describe(`an odd stream, ${variant}`, () => {
    for (const [what, end] of ends) {
      test(`an odd stream is opened again, once, if it ${what}, and nothing is lost`, async (t) => {
        const { server, client, stream } = await odd(t, variant);
        const [one, all] = [watchCluster(client, "a"), watchClusters(client)];
        const first = await stream();
        send(first, { nonce: "1", clusters: [oddCluster("a", "1"), oddCluster("b", "1")] });
        await has(all, "a=1 b=1");
        await waitFor("the acknowledgement", () => first.requests.at(-1)?.nonce === "1");
        end(first);
        const second = await stream();
        const [asked] = second.requests;
        assert.equal(asked?.nonce, "");
        assert.ok(asked?.node !== undefined, "the node is told anew");
        if (variant === "sotw") assert.equal(asked.version, "1");
        else assert.deepEqual(asked.initial, { a: "1", b: "1" });
        // Its resources stay until the server says otherwise.
        assert.deepEqual([one.now, all.now], ["a=1", "a=1 b=1"]);
        send(second, { nonce: "2", version: "2", clusters: [oddCluster("a", "2"), oddCluster("b", "1")] });
        await has(one, "a=2");
        await has(all, "a=2 b=1");
        assert.deepEqual([server.open, server.streams.length], [1, 2]);
        assert.deepEqual(
          one.lines.filter((line) => line.startsWith("error")),
          [],
        );
      });
    }

    test("an odd stream is used until it ends if it goes on after GOAWAY", async (t) => {
      const { server, client, stream } = await odd(t, variant);
      const told = watchCluster(client, "a");
      const first = await stream();
      send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(told, "a=1");
      first.goAway();
      send(first, { nonce: "2", version: "2", clusters: [oddCluster("a", "2")] });
      await has(told, "a=2");
      // Another name goes over the same stream.
      const other = watchCluster(client, "b");
      await waitFor("the name", () => first.requests.some(({ names }) => names.includes("b")));
      send(first, { nonce: "3", version: "3", clusters: [oddCluster("a", "2"), oddCluster("b", "1")] });
      await has(other, "b=1");
      assert.equal(server.streams.length, 1);
      first.end(0);
      const second = await stream();
      send(second, { nonce: "1", version: "4", clusters: [oddCluster("a", "4"), oddCluster("b", "1")] });
      await has(told, "a=4");
    });

    test("a response above the limit ends the stream, and the old resources stay", async (t) => {
      const limits = { responseBytes: 64 * 1024 };
      const { server, client, events, stream } = await odd(t, variant, { limits });
      const told = watchCluster(client, "a");
      const first = await stream();
      send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(told, "a=1");
      send(first, { nonce: "2", version: "2", clusters: [oddCluster("a", "x".repeat(100_000))] });
      const second = await stream();
      assert.equal(told.now, "a=1");
      assert.ok(events.some((event) => event.kind === "disconnected" && event.error?.code === 8));
      send(second, { nonce: "1", version: "3", clusters: [oddCluster("a", "3")] });
      await has(told, "a=3");
      assert.equal(server.open, 1);
    });

    test("a stream that ends as soon as it is opened is opened again after ever longer waits, never twice at once", async (t) => {
      let most = 0;
      let refuses = true;
      const server = await createOddServer((stream) => {
        most = Math.max(most, server.open);
        if (refuses) stream.end(14, "not yet");
        else stream.send(responseBytes(variant, { clusters: [oddCluster("a", "1")] }));
      });
      const { client, events } = await odd(t, variant, {}, server);
      const told = watchCluster(client, "a");
      await waitFor("ten attempts", () => server.streams.length >= 10);
      refuses = false;
      await waitFor(
        "a stream that stays",
        () => server.open === 1 && (server.streams.at(-1)?.requests.length ?? 0) > 0,
      );
      assert.equal(most, 1);
      assert.ok(events.filter(({ kind }) => kind === "failed").length >= 10);
      const last = server.streams.at(-1);
      assert.ok(last !== undefined);
      send(last, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(told, "a=1");
      assert.match(told.lines[0] ?? "", /^error XDSKIT_/);
    });

    test("a server that reads no answers is left if it keeps sending, and nothing grows", async (t) => {
      const { server, client, stream } = await odd(t, variant);
      const told = watchCluster(client, "a");
      const first = await stream();
      first.pause();
      const responses = ["1", "2"].map((version) =>
        responseBytes(variant, { version, nonce: "n".repeat(200), clusters: [oddCluster("a", "1")] }),
      );
      // More answers than its window takes.
      for (let count = 0; count < 3_000 && first.isOpen; count++) {
        for (const response of responses) first.send(response);
        if (count % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
      }
      const second = await stream();
      await has(told, "a=1");
      await waitFor("the first to be over", () => !first.isOpen);
      send(second, { nonce: "1", version: "2", clusters: [oddCluster("a", "2")] });
      await has(told, "a=2");
      assert.equal(server.streams.length, 2);
    });
  });
}
