import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EtcdClient } from "./client/etcd-client.js";
import { EtcdSession } from "./etcd-session.js";

const ttlMs = 300;

describe("a session of etcd", () => {
  it("is over for good once its time has passed, although etcd answers later that it goes on", async () => {
    const calls: string[] = [];
    // A new leader of etcd gives each lease its whole time again. The answer comes when the time here is over.
    const client: Partial<EtcdClient> = {
      grantLease: async () => 7n,
      keepAlive: () => delay(2 * ttlMs, 1),
      revokeLease: async (lease) => {
        calls.push(`revoked ${lease}`);
      },
    };
    const lost = new Promise<void>((resolve) => {
      const told = () => {
        calls.push("lost");
        resolve();
      };
      void EtcdSession.open(client as EtcdClient, { ttlMs, lost: told }, { over: () => calls.push("over") });
    });
    await Promise.race([lost, delay(10_000).then(() => assert.fail("nobody hears that it is over"))]);
    assert.deepEqual(calls, ["over", "revoked 7", "lost"]);
  });
});
