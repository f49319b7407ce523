import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { waitFor } from "../../testing/wait-for.js";
import { createSocketWrites, type SocketWriter } from "./socket-writes.js";

/** The two ends of a connection; the client reads nothing before `resume`. */
interface Pair {
  readonly client: Socket;
  readonly socket: Socket;
  readonly writer: SocketWriter;
  readonly came: Buffer[];
  /** How often the server's end heard of room. */
  drains(): number;
}

/** The first pair of each test writes by its stream, as the one that shows how. */
async function withPairs(count: number, test: (pairs: readonly Pair[]) => Promise<void>): Promise<void> {
  const writerOf = createSocketWrites();
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = server.address();
  const port = typeof at === "object" ? (at?.port ?? 0) : 0;
  const pairs: Pair[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const accepted = once(server, "connection");
      const client = connect({ port, host: "127.0.0.1" });
      const [socket] = (await accepted) as [Socket];
      let drains = 0;
      const writer = writerOf(socket, () => {
        drains += 1;
      });
      const came: Buffer[] = [];
      client.on("data", (bytes: Buffer) => came.push(bytes));
      client.pause();
      for (const each of [client, socket]) each.on("error", () => {});
      assert.equal(writer.write([Buffer.from("greeting")]), "gone");
      pairs.push({ client, socket, writer, came, drains: () => drains });
    }
    await test(pairs);
  } finally {
    for (const { client, socket } of pairs) for (const each of [client, socket]) each.destroy();
    server.close();
  }
}

const piece = 100_000;

/** Writes pieces, each of another letter, until there is no room; returns all of them. */
function fill({ writer }: Pair): Buffer {
  const all = [Buffer.from("greeting")];
  for (let index = 0; index < 1_000; index++) {
    const chunk = Buffer.alloc(piece, 97 + (index % 26));
    all.push(chunk);
    // By turns in one part and in two.
    const parts = index % 2 === 0 ? [chunk] : [chunk.subarray(0, 10), chunk.subarray(10)];
    if (writer.write(parts) === "full") return Buffer.concat(all);
  }
  throw new Error("the kernel takes everything");
}

describe("writing to sockets without their streams", () => {
  it("is done from the second socket on", () =>
    withPairs(3, async (pairs) => {
      for (const [index, pair] of pairs.entries()) {
        fill(pair);
        assert.equal(pair.writer.isEmpty, false);
        assert.equal(pair.socket.writableLength > 0, index === 0, "this Node writes in another way");
      }
    }));

  it("gives a client that stops to read all of it once it goes on, and tells of room then", () =>
    withPairs(2, async (pairs) => {
      for (const pair of pairs) {
        const { client, came, drains, writer } = pair;
        const wanted = fill(pair);
        assert.equal(drains(), 0);
        client.resume();
        await waitFor("room", () => drains() === 1);
        assert.equal(writer.write([Buffer.from("behind")]), "gone");
        const length = wanted.length + "behind".length;
        await waitFor("all of it", () => came.reduce((sum, { length }) => sum + length, 0) === length);
        assert.ok(Buffer.concat(came).equals(Buffer.concat([wanted, Buffer.from("behind")])));
        assert.ok(writer.isEmpty);
      }
    }));

  it("takes more where there is no room, behind what waits, and ends behind all of it", () =>
    withPairs(2, async (pairs) => {
      for (const pair of pairs) {
        const { client, socket, writer, came } = pair;
        const wanted = fill(pair);
        assert.equal(writer.write([Buffer.from("be")]), "full");
        assert.equal(writer.write([Buffer.from("hi"), Buffer.from("nd")]), "full");
        socket.end();
        const ended = once(client, "end");
        client.resume();
        await ended;
        assert.ok(Buffer.concat(came).equals(Buffer.concat([wanted, Buffer.from("behind")])));
      }
    }));

  it("survives a client that goes while something waits, and what is written after that", () =>
    withPairs(2, async (pairs) => {
      for (const pair of pairs) {
        const { client, socket, writer, drains } = pair;
        fill(pair);
        client.resetAndDestroy();
        await waitFor("the end", () => socket.closed);
        writer.write([Buffer.from("nobody reads it")]);
        writer.write([Buffer.from("nor"), Buffer.from("this")]);
        assert.equal(drains(), 0);
      }
    }));

  it("ends a socket whose peer is gone as soon as it is written to", () =>
    withPairs(2, async ([, pair]) => {
      const { client, socket, writer } = pair as Pair;
      socket.pause();
      client.resetAndDestroy();
      await waitFor("the reset", () => {
        writer.write([Buffer.from("x")]);
        return socket.destroyed;
      });
    }));
});
