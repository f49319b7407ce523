import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { peerOf } from "./peer.js";

describe("peerOf", () => {
  const cases: readonly [string, string][] = [
    ["127.0.0.1:51234", "127.0.0.1:51234"],
    ["::1:51234", "[::1]:51234"],
    ["::ffff:10.0.0.7:80", "10.0.0.7:80"],
    ["unknown", "unknown"],
  ];
  for (const [said, shown] of cases) {
    it(`shows ${said} as ${shown}`, () => assert.equal(peerOf({ getPeer: () => said }), shown));
  }
});
