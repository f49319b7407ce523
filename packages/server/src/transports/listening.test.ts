import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listenAddress, listenError } from "./listening.js";

describe("listenAddress", () => {
  it("a host and a port, or a Unix socket, are read, and anything else is refused with a reason", () => {
    assert.deepEqual(listenAddress("[::1]:0"), { host: "::1", port: 0 });
    assert.deepEqual(listenAddress("unix:/tmp/x?mode=660"), { path: "/tmp/x", mode: 0o660 });
    assert.throws(() => listenAddress("unix:tmp/x"), {
      code: "XDSKIT_ADDRESS_INVALID",
      message: /"unix:tmp\/x" is not an address of the form HOST:PORT/,
    });
  });
});

describe("listenError", () => {
  it("a known error is explained in words, and an unknown one is kept", () => {
    const of = (text: string) => listenError("127.0.0.1:80", new Error(text)).message;
    assert.match(
      of("listen EADDRINUSE: address already in use"),
      /cannot listen on 127.0.0.1:80: the port is in use.*_IN_USE/,
    );
    assert.match(of("listen EACCES: permission denied 127.0.0.1:80"), /the port needs more rights.*_UNAVAILABLE/);
    assert.match(of("something new"), /something new.*_UNAVAILABLE/);
  });
});
