import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listenError, parseAddress } from "./address.js";

describe("parseAddress", () => {
  it("reads a host and a port", () => {
    assert.deepEqual(parseAddress("127.0.0.1:18000"), { host: "127.0.0.1", port: 18000 });
    assert.deepEqual(parseAddress("[::1]:0"), { host: "[::1]", port: 0 });
    assert.deepEqual(parseAddress("xds.example.com:443"), { host: "xds.example.com", port: 443 });
  });
  for (const text of [
    "",
    ":80",
    "host",
    "host:",
    "host:65536",
    "::1:80",
    "[::1]",
    "unix:/tmp/x",
    "dns:host:80",
    "a b:1",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseAddress(text), { code: "XDSKIT_ADDRESS_INVALID" });
    });
  }
});

describe("listenError", () => {
  it("says the cause in words, and keeps what is unknown", () => {
    const of = (text: string) => listenError("127.0.0.1:80", new Error(text)).message;
    assert.match(
      of("listen EADDRINUSE: address already in use"),
      /cannot listen on 127.0.0.1:80: the port is in use.*_IN_USE/,
    );
    assert.match(of("No address added, [listen EACCES x]"), /the port needs more rights.*_UNAVAILABLE/);
    assert.match(of("something new"), /something new.*_UNAVAILABLE/);
  });
});
