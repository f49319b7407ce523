import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { grpcStreams } from "../testing/grpc-streams.js";
import { judgingClient } from "../testing/judging-client.js";
import { withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor } from "../testing/wait-for.js";

describe("a server with workers whose listener asks for its numbers while a change is published", () => {
  it("gives the change to the nodes that its rollout has reached, and to no others", async () => {
    const rollout = { steps: [{ count: 1 }, { percent: 100 }], soakMs: 0 };
    await withServer({ workers: 2, rollout }, async ({ server, address }) => {
      server.config.set([cluster("a", "1")], { rollout: "off" });
      const streams = grpcStreams(address);
      const clients = Array.from({ length: 8 }, (_, index) => {
        const judge = (contents: ReadonlyMap<string, string>) => (contents.get("a") === "bad" ? "reject" : "accept");
        return judgingClient(streams.transport, address, { id: `node-${index}`, judge });
      });
      await waitFor("the first contents", () => clients.every(({ held }) => held.get("a") === "1"));
      await waitFor("all to be synced", () => server.nodeStates().synced === clients.length);
      server.on((event) => {
        if (event.kind !== "rollout" || event.outcome !== "started") return;
        server.stats();
        // What the workers heard by now they have time to pass on.
        const until = performance.now() + 200;
        while (performance.now() < until);
      });
      server.config.set([cluster("a", "bad")]);
      await waitFor("a halt", () => server.rollouts()[0]?.state === "halted");
      await waitFor("a rejection", () => clients.some(({ rejections }) => rejections > 0));
      const rejecting = clients.filter(({ rejections }) => rejections > 0);
      assert.equal(rejecting.length, 1);
      streams.close();
    });
  });
});
