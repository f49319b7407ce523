import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judgedServers, judgeServer } from "./conformance/judged-servers.js";
import { peer } from "./harness/basics/peers.js";

// Most of the time they wait for what does not come.
describe("held against the protocol", { concurrency: judgedServers.length }, () => {
  for (const server of judgedServers.filter(({ isReportOnly }) => !isReportOnly)) {
    test(`${server.name} does all that the protocol says, but for what is known`, { timeout: 240_000 }, async (t) => {
      if (server.needs !== undefined && peer(server.needs, t) === undefined) return;
      // Only what does not come is awaited to the end.
      const judged = await judgeServer(server, server.known === undefined ? ["--answer-ms", "20000"] : []);
      assert.ok(judged !== undefined);
      assert.equal(judged.status, 0, judged.out);
      assert.ok(judged.checks.filter(({ status }) => status === "passed").length > 110, judged.out);
      const others = judged.checks
        .filter(({ status }) => status !== "passed")
        .map(({ id, status }) => `${id} ${status}`);
      if (server.known === undefined) {
        assert.deepEqual(others, [
          // In delta removed_resources says it all.
          ...["delta-error-fields", "delta-error-beside", "delta-error-once"].map((id) => `${id} skipped`),
          // Its driver has a folder, and not the server's process.
          ...["sotw-restarted", "delta-restarted"].map((id) => `${id} skipped`),
        ]);
      }
    });
  }
});
