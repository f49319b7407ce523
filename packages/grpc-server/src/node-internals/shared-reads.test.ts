import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { waitFor } from "../testing/wait-for.js";
import { createSharedReads } from "./shared-reads.js";

/** Pairs of sockets: one end of each reads into memory that all share. */
async function withPairs(count: number, test: (pairs: readonly Pair[]) => Promise<void>): Promise<void> {
  const readShared = createSharedReads();
  const accepted: { readonly socket: Socket; readonly came: Buffer[] }[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const came: Buffer[] = [];
    assert.ok(
      readShared(socket, (_socket, bytes) => came.push(Buffer.from(bytes))),
      "this Node has it not",
    );
    accepted.push({ socket, came });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = server.address();
  const port = typeof at === "object" ? (at?.port ?? 0) : 0;
  const pairs: Pair[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const client = connect({ port, host: "127.0.0.1", noDelay: true });
      await waitFor("the connection", () => accepted.length > index);
      const { socket, came } = accepted[index] as (typeof accepted)[number];
      pairs.push({ client, socket, came: () => Buffer.concat(came).toString("latin1") });
    }
    await test(pairs);
  } finally {
    for (const { client, socket } of pairs) for (const each of [client, socket]) each.destroy();
    server.close();
  }
}

interface Pair {
  readonly client: Socket;
  readonly socket: Socket;
  came(): string;
}

describe("sockets that share the memory that they read into", () => {
  it("each socket gets its own bytes, complete and in order", () =>
    withPairs(3, async (pairs) => {
      const wanted = pairs.map((_, index) => String(index).repeat(300_000));
      for (const [index, { client }] of pairs.entries()) client.write(wanted[index] as string);
      for (const [index, pair] of pairs.entries()) {
        await waitFor("all of it", () => pair.came().length === 300_000);
        assert.equal(pair.came(), wanted[index]);
      }
    }));

  it("a socket can stop reading, go on, and is told of the end", () =>
    withPairs(1, async ([pair]) => {
      const { client, socket, came } = pair as Pair;
      socket.pause();
      client.end("behind the pause");
      const ended = once(socket, "end");
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      assert.equal(came(), "");
      socket.resume();
      await ended;
      assert.equal(came(), "behind the pause");
    }));

  it("a socket keeps Node's own events if this Node cannot share reads", () =>
    withPairs(1, async ([pair]) => {
      const { socket } = pair as Pair;
      const readShared = createSharedReads();
      const without = (hidden: string) =>
        new Proxy(socket, {
          get: (target, key) => (key === hidden ? undefined : Reflect.get(target, key)),
          ownKeys: (target) => Reflect.ownKeys(target).filter((key) => typeof key !== "symbol" || hidden !== "symbols"),
        });
      assert.equal(
        readShared(without("symbols"), () => assert.fail()),
        false,
      );
      assert.equal(
        readShared(without("_handle"), () => assert.fail()),
        false,
      );
      // It reads into other memory already.
      assert.equal(
        readShared(socket, () => assert.fail()),
        false,
      );
    }));
});
