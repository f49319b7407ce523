import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { boundedOutput } from "./bounded-output.js";

test("4 MiB of unread output wait, and the rest is dropped and reported once everything was read", {
  timeout: 20_000,
}, async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const { port } = server.address() as { port: number };
  const reader = connect(port, "127.0.0.1");
  const [writer] = await accepted;
  try {
    reader.pause();
    const write = boundedOutput(writer, (dropped) => `${dropped} were left out\n`);
    const line = `${"x".repeat(999)}\n`;
    // As a server that goes on: the kernel takes some of it.
    for (let index = 0; index < 30_000; index++) {
      write(line);
      if (index % 1_000 === 0) await new Promise(setImmediate);
    }
    assert.ok(writer.writableLength < 4.1 * 1024 * 1024, `${writer.writableLength} bytes wait`);
    const chunks: Buffer[] = [];
    let later = false;
    reader.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      const end = chunk.toString("latin1");
      if (!later && end.includes("left out")) {
        later = true;
        write("and this\n");
      }
      if (end.endsWith("and this\n")) writer.end();
    });
    reader.resume();
    await once(reader, "end");
    const lines = Buffer.concat(chunks).toString("latin1").trimEnd().split("\n");
    const [, dropped] = /^(\d+) were left out$/.exec(lines.at(-2) ?? "") ?? [];
    assert.ok(Number(dropped) > 1_000, lines.at(-2));
    assert.equal(Number(dropped) + lines.length - 2, 30_000);
    assert.equal(lines.at(-1), "and this");
  } finally {
    reader.destroy();
    writer.destroy();
    server.close();
  }
});
