import assert from "node:assert/strict";
import { connect } from "node:http2";
import { createConnection } from "node:net";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import type { GrpcCallHandler } from "./calls/call.js";
import { createGrpcServer } from "./grpc-server.js";
import { silent } from "./testing/with-server.js";

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

it("a server ends the connection in which a fault happened outside of a read, and goes on", async (t) => {
  const faults: string[] = [];
  const fault = () => {
    throw new Error("a fault");
  };
  const method = (broken: Partial<GrpcCallHandler>) => ({
    unary: false,
    accept: () => ({ ...silent(), ...broken }),
  });
  const server = createGrpcServer({
    methods: new Map([
      ["/test.Broken/Received", method({ received: fault })],
      ["/test.Broken/Closed", method({ closed: fault })],
    ]),
    requestTimeoutMs: 50,
    fault: (_peer, error) => faults.push(String(error)),
    refused: fault,
  });
  t.after(() => server.close(10));
  const address = `127.0.0.1:${await server.listen({ host: "127.0.0.1", port: 0 })}`;
  const zipped = gzipSync("message");
  const prefix = Buffer.alloc(5, 1);
  prefix.writeUInt32BE(zipped.length, 1);
  const cases = [
    ["an inflated message", "Received", { "grpc-encoding": "gzip" }, Buffer.concat([prefix, zipped])],
    ["a request that does not come", "Received", {}, undefined],
    ["a deadline", "Closed", { "grpc-timeout": "10m" }, Buffer.alloc(5)],
  ] as const;
  for (const [about, path, more, message] of cases) {
    const before = faults.length;
    const session = connect(`http://${address}`);
    session.on("error", () => {});
    const headers = { ":method": "POST", ":path": `/test.Broken/${path}`, te: "trailers", ...more };
    const call = session.request({ ...headers, "content-type": "application/grpc" });
    call.on("error", () => {});
    if (message !== undefined) call.write(message);
    await new Promise((resolve) => session.once("close", resolve));
    assert.ok(faults.length > before, about);
  }
  assert.ok(faults.every((told) => told === "Error: a fault"));
});
