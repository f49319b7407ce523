import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { receivedCluster } from "../testing/scripted/scripted-upstream.js";
import { recorder, withClient } from "../testing/watching.js";

const cluster = resourceTypes.find("cluster")!;

describe("get", () => {
  it("get gives the first answer, and leaves nothing behind", () =>
    withClient(async ({ client, one }) => {
      const got = client.get(ClusterSchema, "a");
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      assert.equal((await got).message.altStatName, "1");
      const none = client.get("cluster", "b");
      one.answer(cluster, { absent: ["b"] });
      await assert.rejects(none, /XDSKIT_RESOURCE_ABSENT/);
      assert.equal(one.wanted.size, 0);
    }));

  it("get ends on a timeout, a signal, or the end of the client", () =>
    withClient(async ({ client, one, clock }) => {
      const late = client.get("cluster", "a", { timeout: 100 });
      clock.advance(100);
      await assert.rejects(late, /XDSKIT_CLIENT_TIMEOUT/);
      const controller = new AbortController();
      const stopped = client.get("cluster", "a", { signal: controller.signal });
      controller.abort(new Error("enough"));
      await assert.rejects(stopped, /enough/);
      await assert.rejects(client.get("cluster", "a", { signal: controller.signal }), /enough/);
      assert.equal(one.wanted.size, 0);
      assert.deepEqual(clock.waiting, []);
      const waiting = client.get("cluster", "a");
      const closed = assert.rejects(waiting, /XDSKIT_CLIENT_CLOSED/);
      await client.close();
      await closed;
      await assert.rejects(client.get("cluster", "a"), /XDSKIT_CLIENT_CLOSED/);
      assert.throws(() => client.watch("cluster", "a", recorder()), /XDSKIT_CLIENT_CLOSED/);
    }));
});
