import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseStoreUrl } from "./store-url.js";

describe("the URL of a store", () => {
  it("names a folder, or etcd's members and a prefix", () => {
    assert.deepEqual(parseStoreUrl("lmdb:/var/lib/x"), { kind: "folder", directory: "/var/lib/x" });
    assert.deepEqual(parseStoreUrl("lmdb:state"), { kind: "folder", directory: "state" });
    assert.deepEqual(parseStoreUrl("etcd://a:2379,[::1]:2379,10.0.0.1:2379/xds/prod"), {
      kind: "etcd",
      endpoints: ["a:2379", "[::1]:2379", "10.0.0.1:2379"],
      prefix: "/xds/prod",
    });
  });

  it("is refused if a part is missing or not allowed", () => {
    for (const text of [
      "",
      "lmdb:",
      "/var/lib/x",
      "etcd://",
      "etcd://a:2379",
      "etcd://a:2379/",
      "etcd://a/p",
      "etcd://a:2379,/p",
      "etcd://user:word@a:2379/p",
      "http://a:2379/p",
      "etcd://a:2379/p/",
      "etcd://a:2379/p?x=1",
    ])
      assert.throws(() => parseStoreUrl(text), /Expected lmdb:DIR/, text);
  });
});
