import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, hostOf, parseAddress } from "./address.js";

test("HOST:PORT is read and written, IPv6 in brackets", () => {
  for (const text of ["127.0.0.1:18000", "[::1]:0", "localhost:65535", "xds.example.org:443"]) {
    const address = parseAddress(text);
    assert.ok(address, text);
    assert.equal(formatAddress(address), text);
  }
  assert.deepEqual(parseAddress("[fe80::1]:80"), { host: "fe80::1", port: 80 });
});

test("the host of a URL is without brackets", () => {
  const hosts = ["http://[::1]:80/a", "https://127.0.0.1", "https://xds.example.org:443"].map((url) =>
    hostOf(new URL(url)),
  );
  assert.deepEqual(hosts, ["::1", "127.0.0.1", "xds.example.org"]);
});

test("a text that is no HOST:PORT is refused", () => {
  const wrong = [
    "[::1]",
    "unix:/tmp/x",
    "dns:host:80",
    "a b:1",
    "",
    "18000",
    ":18000",
    "localhost",
    "localhost:",
    "::1:80",
    "a:65536",
    "a:-1",
    "a:1x",
    "[a]:1",
    "http://a:1",
  ];
  for (const text of wrong) assert.equal(parseAddress(text), undefined, text);
});
