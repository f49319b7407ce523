import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { it } from "node:test";
import { writeToSocket } from "../sockets/write-to-socket.js";
import { randomFrom } from "../testing/random.js";
import { waitFor } from "../testing/wait-for.js";
import { Output, Slab } from "./output.js";

/** A connection: one end writes through an `Output`, and the other reads when it likes. */
interface Pair {
  readonly output: Output;
  readonly socket: Socket;
  readonly reader: Socket;
  readonly written: Buffer[];
  readonly read: Buffer[];
}

const sum = (all: readonly Buffer[]) => all.reduce((bytes, { length }) => bytes + length, 0);

it("each of many slow readers gets exactly its own bytes, whoever shares the slab", async () => {
  const random = randomFrom(7);
  const slab = new Slab();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const pairs: Pair[] = [];
  try {
    for (let index = 0; index < 8; index++) {
      const accepted = once(server, "connection");
      const reader = connect(address.port, "127.0.0.1");
      const [socket] = (await accepted) as [Socket];
      const output = new Output({ slab, write: (chunks) => writeToSocket(socket, chunks) });
      const pair: Pair = { output, socket, reader, written: [], read: [] };
      socket.on("drain", () => output.drained());
      reader.on("data", (bytes: Buffer) => pair.read.push(bytes));
      reader.pause();
      pairs.push(pair);
    }
    let congested = 0;
    for (let round = 0; round < 1_500; round++) {
      // Turns of some connections at once, mixed.
      const open = pairs.filter(() => random(3) > 0);
      for (const { output } of open) output.begin();
      for (let put = random(12); put > 0 && open.length > 0; put--) {
        const { output, written } = open[random(open.length)] as Pair;
        const size = random(4) === 0 ? 2_048 + random(60_000) : random(2_048);
        const bytes = Buffer.alloc(size, random(256));
        written.push(Buffer.from(bytes));
        output.put(bytes);
      }
      for (const { output } of open) {
        output.end();
        if (!output.hasRoom) congested += 1;
      }
      // Nobody reads until the kernel takes no more.
      for (const { reader } of pairs)
        if (round > 1_000 && random(20) === 0) reader.isPaused() ? reader.resume() : reader.pause();
      if (random(4) === 0) await new Promise(setImmediate);
    }
    assert.ok(congested > 0, "no socket was ever full");
    for (const { reader } of pairs) reader.resume();
    for (const { written, read } of pairs) {
      await waitFor("all of it", () => sum(read) >= sum(written));
      assert.ok(Buffer.concat(read).equals(Buffer.concat(written)));
    }
  } finally {
    for (const { socket, reader } of pairs) {
      socket.destroy();
      reader.destroy();
    }
    server.close();
  }
});
