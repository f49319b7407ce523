import { after, before, describe, it } from "node:test";
import { describeStore } from "@xdskit/server/store-contract";
import { openEtcdStore } from "@xdskit/store-etcd";
import { EtcdCluster } from "./harness/etcd.js";
import { findPeer, peer } from "./harness/peers.js";

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
}
