import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, Socket } from "node:net";
import { describe, it } from "node:test";
import { waitFor } from "../testing/wait-for.js";
import { endReading, type SocketEnd, tellEnd } from "./late-ends.js";
import { createSharedReads } from "./shared-reads.js";

/** The server's end of a connection. */
interface Accepted {
  readonly socket: Socket;
  readonly ends: readonly SocketEnd[];
  /** Node's own events about it. */
  readonly events: readonly string[];
  readonly endInput: () => void;
}

/** This many connections; the test has both ends of each. */
async function withConnections(
  count: number,
  isShared: boolean,
  test: (clients: readonly Socket[], accepted: readonly Accepted[], server: Server) => Promise<void>,
): Promise<void> {
  const readShared = createSharedReads();
  const accepted: Accepted[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const ends: SocketEnd[] = [];
    const events: string[] = [];
    for (const event of ["end", "close", "error"]) socket.on(event, () => events.push(event));
    if (isShared) readShared(socket, () => {});
    else socket.resume();
    tellEnd(socket, (_socket, end) => ends.push(end));
    accepted.push({ socket, ends, events, endInput: () => endReading(socket) });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = server.address();
  const port = typeof at === "object" ? (at?.port ?? 0) : 0;
  const clients: Socket[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      client.on("error", () => {});
      client.resume();
      clients.push(client);
    }
    await waitFor("the connections", () => accepted.length === count);
    await test(clients, accepted, server);
  } finally {
    for (const socket of [...clients, ...accepted.map(({ socket }) => socket)]) socket.destroy();
    server.close();
  }
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};
const connectionsOf = (server: Server) =>
  new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

for (const isShared of [true, false]) {
  describe(`sockets that ${isShared ? "share the memory that they read into" : "emit what they read"}`, () => {
    const ways: readonly (readonly [SocketEnd, (client: Socket) => void])[] = [
      ["input", (client) => client.end()],
      ["broken", (client) => client.resetAndDestroy()],
    ];
    for (const [end, cut] of ways) {
      it(`a socket that ended stays open until the listener that was told closes it: ${end}`, () =>
        withConnections(100, isShared, async (clients, accepted, server) => {
          for (const client of clients) cut(client);
          await waitFor("all to be told of", () => accepted.every(({ ends }) => ends.length > 0));
          await turns(20);
          assert.deepEqual([...new Set(accepted.flatMap(({ ends }) => ends))], [end]);
          assert.ok(accepted.every(({ ends }) => ends.length === 1));
          assert.ok(accepted.every(({ socket, events }) => !socket.destroyed && events.length === 0));
          assert.equal(await connectionsOf(server), 100);
          for (const { socket } of accepted) socket.destroy();
          await waitFor("all to be closed", () => accepted.every(({ events }) => events.at(-1) === "close"));
          assert.equal(await connectionsOf(server), 0);
          // Nobody reported an error, or an end.
          assert.ok(accepted.every(({ events }) => events.length === 1));
        }));
    }

    it("the end of a socket is reported once, even if Node ends it by itself", () =>
      withConnections(1, isShared, async (_clients, [accepted]) => {
        const { socket, ends, events } = accepted as Accepted;
        Socket.prototype.push.call(socket, null);
        socket.read(0);
        await waitFor("the end", () => events.includes("end"));
        assert.deepEqual(ends, ["input"]);
        socket.destroy();
        await waitFor("the close", () => events.includes("close"));
        assert.deepEqual(ends, ["input"]);
      }));

    it("a socket whose peer ended can be written to until we end it, and then closes by itself", () =>
      withConnections(1, isShared, async ([client], [one], server) => {
        assert.ok(client !== undefined && one !== undefined);
        let came = "";
        client.on("data", (bytes: Buffer) => {
          came += bytes.toString();
        });
        client.end();
        await waitFor("the end", () => one.ends.length > 0);
        one.socket.write("still ");
        one.endInput();
        one.socket.end("here");
        await once(client, "end");
        assert.equal(came, "still here");
        await waitFor("it to close", () => one.events.includes("close"));
        assert.deepEqual(one.events, ["end", "close"]);
        assert.equal(await connectionsOf(server), 0);
      }));

    it("a write to a socket that ended or broke reports that it broke, and does no harm", () =>
      withConnections(2, isShared, async (clients, accepted) => {
        const [ending, breaking] = clients;
        // Its kernel answers later bytes with a reset.
        ending?.destroy();
        breaking?.resetAndDestroy();
        await waitFor("the ends", () => accepted.every(({ ends }) => ends.length > 0));
        for (let tries = 0; tries < 5; tries++) {
          for (const { socket } of accepted) socket.write("nobody reads this");
          await turns(5);
        }
        await waitFor("both to break", () => accepted.every(({ ends }) => ends.at(-1) === "broken"));
        assert.deepEqual(accepted.map(({ ends }) => ends.length).sort(), [1, 2]);
        assert.ok(accepted.every(({ socket }) => !socket.destroyed));
        for (const { socket } of accepted) socket.destroy();
        await waitFor("both to be closed", () => accepted.every(({ events }) => events.includes("close")));
      }));
  });
}
