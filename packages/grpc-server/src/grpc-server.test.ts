import assert from "node:assert/strict";
import { connect } from "node:http2";
import { createConnection } from "node:net";
import { it } from "node:test";
import { createGrpcServer } from "./grpc-server.js";

it("a closing server drops a client that never finishes its TLS handshake", async () => {
  // No client gets far enough to see a certificate.
  const server = createGrpcServer({ methods: new Map(), tls: {} });
  const silent = createConnection(await server.listen({ host: "127.0.0.1", port: 0 }), "127.0.0.1");
  let isClosed = false;
  silent.on("error", () => {});
  silent.on("close", () => {
    isClosed = true;
  });
  await new Promise((resolve) => silent.once("connect", resolve));
  // Half of a record: now the server knows of it.
  silent.write(Buffer.of(22, 3, 1, 1, 0));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await server.close(10);
  for (let turn = 0; turn < 40 && !isClosed; turn++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(isClosed);
  silent.destroy();
});

it("a server ends the connection in which a fault happened, reports the fault, and goes on", async (t) => {
  const faults: string[] = [];
  const broken = () => {
    throw new Error("a fault");
  };
  const server = createGrpcServer({
    methods: new Map([["/test.Broken/Call", { unary: true, accept: broken }]]),
    fault: (_peer, error) => faults.push(String(error)),
  });
  t.after(() => server.close(10));
  const address = `127.0.0.1:${await server.listen({ host: "127.0.0.1", port: 0 })}`;
  for (const number of [1, 2]) {
    const session = connect(`http://${address}`);
    session.on("error", () => {});
    const headers = { ":method": "POST", ":path": "/test.Broken/Call", te: "trailers" };
    const call = session.request({ ...headers, "content-type": "application/grpc" });
    call.on("error", () => {});
    // An empty message, and the end: now the method is called.
    call.end(Buffer.alloc(5));
    await new Promise((resolve) => session.once("close", resolve));
    assert.deepEqual(faults, Array(number).fill("Error: a fault"));
  }
});
