import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { bindHandle, handleOf, type ListeningHandle } from "./listening-handle.js";

describe("the handle of a listening socket", () => {
  it("is bound to a port before anybody listens, and a server can listen on it", async () => {
    const handle = bindHandle("127.0.0.1", 0, 4) as ListeningHandle;
    assert.ok(typeof handle === "object" && handle.fd > 0);
    const at: { port?: number } = {};
    handle.getsockname(at);
    assert.ok(at.port !== undefined && at.port > 0);
    const server = createServer((socket) => socket.destroy());
    server.listen(handle);
    await once(server, "listening");
    assert.equal(handleOf(server).fd, handle.fd);
    const client = connect({ port: at.port, host: "127.0.0.1" });
    await once(client, "connect");
    client.destroy();
    server.close();
  });

  it("is refused with words where this Node cannot make one", () => {
    assert.throws(() => bindHandle("127.0.0.1", 0, 4, {}), /run xdskit without workers/);
  });

  it("is missing where a server does not listen", () => {
    assert.throws(() => handleOf(createServer()), /does not listen/);
  });
});
