import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judgeClient, judgedClients } from "./conformance/judged-clients.js";
import { someEnvoys } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";

const others = judgedClients.filter(({ isReportOnly, name }) => !isReportOnly && !name.startsWith("envoy"));
const envoys = judgedClients.filter(({ name }) => someEnvoys.some((one) => one === name));

describe("clients, held against the protocol", { concurrency: 3 }, () => {
  for (const client of [...others, ...envoys]) {
    test(client.name, { timeout: 200_000 }, async (t) => {
      if (client.needs !== undefined && peer(client.needs, t) === undefined) return;
      const judged = await judgeClient(client);
      assert.ok(judged !== undefined);
      const counted = (status: string) => judged.checks.filter((check) => check.status === status).length;
      const skipped = judged.checks.length - client.passed;
      assert.deepEqual(
        { exit: judged.status, passed: counted("passed"), failed: counted("failed"), skipped: counted("skipped") },
        { exit: 0, passed: client.passed, failed: 0, skipped },
        judged.out,
      );
    });
  }
});
