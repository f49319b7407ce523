import assert from "node:assert/strict";
import { test } from "node:test";
import { grpcAddress } from "./grpc-address.js";

test("an address is HOST:PORT or a gRPC target, and a possible password is not quoted", () => {
  for (const good of ["127.0.0.1:1", "[::1]:443", "host:80", "dns:///host:1", "unix:/run/xds.sock"]) {
    assert.equal(grpcAddress(good), good);
  }
  assert.throws(() => grpcAddress("nowhere"), /"nowhere" is not HOST:PORT/);
  assert.throws(() => grpcAddress("ftp://edge:S3CR3T@host/"), {
    code: "XDSKIT_CLIENT_OPTION",
    message: /^"\[redacted\]@host\/" is not HOST:PORT/,
  });
});
