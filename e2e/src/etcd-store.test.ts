import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { describeStore } from "@xdskit/server/store-contract";
import { openEtcdStore } from "@xdskit/store-etcd";
import { findPeer, peer } from "./harness/basics/peers.js";
import { EtcdCluster } from "./harness/peers/etcd.js";

const program = findPeer("etcd");

if (program === undefined) {
  describe("a store in etcd", () => {
    it("keeps the contract of stores", (t) => void peer("etcd", t));
  });
} else {
  let etcd: EtcdCluster;
  let number = 0;
  before(async () => {
    etcd = await EtcdCluster.start(program);
  });
  after(() => etcd?.stop());
  const open = () => openEtcdStore({ endpoints: etcd.endpoints, prefix: `/test/${number}` });
  describeStore({
    name: "etcd",
    create() {
      number += 1;
      return open();
    },
    reopen: open,
    other: open,
  });

  it("a store in etcd collects revisions once one in a hundred is old, since that costs all of them", async () => {
    number += 1;
    const store = await open();
    try {
      const removed: number[] = [];
      let parent: string | undefined;
      for (let count = 1; count <= 104; count += 1) {
        const upsert = [{ type: "t", key: "one", version: `${count}`, bytes: Buffer.from(`${count}`) }];
        const info = { author: "a test", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;
        const result = await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info);
        assert.ok(result.kind === "committed");
        parent = result.heads[0]?.id;
        if (count > 99) removed.push(await store.retain({ revisions: 100, since: 0 }));
      }
      assert.deepEqual(removed, [0, 0, 2, 0, 2]);
      assert.equal((await store.history("a", { limit: 200 })).length, 100);
    } finally {
      await store.close();
    }
  });
}
