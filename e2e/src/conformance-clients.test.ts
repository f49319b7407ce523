import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judgeClient, judgedClients } from "./conformance/judged-clients.js";
import { someEnvoys } from "./harness/basics/effort.js";
import { envoys, peer } from "./harness/basics/peers.js";

const leftOut = envoys.filter((name) => !someEnvoys.some((one) => one === name));
const clients = judgedClients.filter(({ isReportOnly, name }) => !isReportOnly && !leftOut.some((one) => one === name));

describe("clients, held against the protocol", { concurrency: 3 }, () => {
  for (const client of clients) {
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
