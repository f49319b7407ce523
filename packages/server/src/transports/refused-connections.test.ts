import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { waitFor } from "../testing/basics/wait-for.js";
import { followRefused } from "./refused-connections.js";

describe("a connection that cannot be read", () => {
  it("gets no answer in the middle of another one", () =>
    withServer({ answer: (_, response) => void response.write("first") }, async ({ open }) => {
      const client = open();
      // The answers of two requests come one after the other: the head of the second waits.
      client.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2));
      await waitFor("the answer", () => client.got().endsWith("first\r\n"));
      const before = client.got();
      client.socket.write("GARBAGE\r\n\r\n");
      await waitFor("the end", () => client.socket.closed);
      assert.equal(client.got(), before);
    }));

  it("gets an answer after one that is over, and while one has not begun", () =>
    withServer({ answer: (request, response) => request.url === "/" && response.end("first") }, async ({ open }) => {
      for (const [path, before] of [
        ["/", /^HTTP\/1\.1 200 .*first$/s],
        ["/later", /^$/],
      ] as const) {
        const client = open();
        client.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        await waitFor("the answer", () => before.test(client.got()));
        client.socket.write("GARBAGE\r\n\r\n");
        await waitFor("the end", () => client.socket.closed);
        assert.match(client.got(), /HTTP\/1\.1 400 .*"status":400/s, path);
      }
    }));

  it("is closed after its answer, whatever its client does", () =>
    withServer({}, async ({ open, accepted }) => {
      for (const bytes of ["HELLO\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]) {
        const client = open({ allowHalfOpen: true });
        client.socket.write(bytes);
        await waitFor("the answer", () => client.got().startsWith("HTTP/1.1 400 "));
        await waitFor("the end", () => accepted.at(-1)?.destroyed === true);
        client.socket.destroy();
      }
    }));

  it("is told to all, and answered, although one of those who are told throws", async () => {
    const told: string[] = [];
    const refused = [
      () => {
        throw new Error("mine");
      },
      (_: string, reason: string) => void told.push(reason),
    ];
    await withServer({ refused }, async ({ open }) => {
      const warned = once(process, "warning");
      const client = open();
      client.socket.write("PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\n");
      await waitFor("the end", () => client.socket.closed);
      assert.match(client.got(), /^HTTP\/1\.1 400 /);
      assert.equal(told.length, 1);
      const [{ message }] = await warned;
      assert.equal(message, "a listener of refused connections threw: Error: mine");
    });
  });
});

interface Opened {
  readonly socket: Socket;
  /** All that came. */
  got(): string;
}

interface Running {
  /** The server's side of the connections. */
  readonly accepted: readonly Socket[];
  open(options?: { readonly allowHalfOpen?: boolean }): Opened;
}

async function withServer(
  { answer = () => {}, refused = [] }: { answer?: RequestListener; refused?: Parameters<typeof followRefused>[2] },
  use: (running: Running) => Promise<void>,
): Promise<void> {
  const server: Server = createServer(answer);
  const accepted: Socket[] = [];
  server.on("connection", (socket) => accepted.push(socket));
  followRefused(server, undefined, refused);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const open: Running["open"] = (options) => {
    const socket = connect({ host: "127.0.0.1", port, ...options });
    let got = "";
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        got += bytes.toString("latin1");
      });
    return { socket, got: () => got };
  };
  try {
    await use({ accepted, open });
  } finally {
    server.close();
    for (const socket of accepted) socket.destroy();
  }
}
