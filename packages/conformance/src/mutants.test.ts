import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { credentials } from "@grpc/grpc-js";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { serverChecks } from "./checks/all-checks.js";
import type { Result } from "./run/result.js";
import { runChecks } from "./run/run-checks.js";
import { hasFailed } from "./testing/has-failed.js";
import { mistakes } from "./testing/reference/mistakes.js";
import { type ReferenceServer, startReferenceServer } from "./testing/reference/reference-server.js";

/** Holds the server at an address against checks, by their identifiers. */
function judge(
  { address, driver, rest }: ReferenceServer,
  ids: readonly string[],
  answerMs: number,
): Promise<readonly Result[]> {
  return runChecks({
    target: { address, credentials: credentials.createInsecure(), headers: {} },
    node: create(NodeSchema, { id: "a-test" }),
    bounds: { answerMs, quietMs: 50, checkMs: 20_000 + 2 * answerMs, totalMs: 300_000 },
    checks: serverChecks.filter(({ id }) => ids.includes(id)),
    requirements: "9999-12",
    expected: new Map(),
    parallel: 4,
    seed: 1,
    rest,
    driver,
    onResult: () => {},
  });
}

/** Checks that change something wait for each other, so they are dealt out to so many servers. */
const servers = 6;

describe("the reference server", () => {
  test("passes every check", async (t) => {
    const ids = serverChecks.map(({ id }) => id);
    const judged = Array.from({ length: servers }, async (_, part) => {
      const server = await startReferenceServer();
      t.after(() => server.stop());
      const some = ids.filter((_, index) => index % servers === part);
      return await judge(server, some, 60_000);
    });
    const results = (await Promise.all(judged)).flat();
    const others = results.filter((result) => result.status !== "passed" || hasFailed(result));
    assert.deepEqual(
      others.map(({ check, status, message, transcript }) => ({ id: check.id, status, message, transcript })),
      [],
    );
    assert.equal(results.length, ids.length);
  });
});

test("every check fails for some mistake", () => {
  const caught = new Set([...mistakes.values()].flat());
  const ids = serverChecks.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id) => !caught.has(id)),
    [],
  );
  assert.deepEqual(
    [...caught].filter((id) => !ids.includes(id)),
    [],
  );
  assert.equal(new Set(ids).size, ids.length);
});

describe("a server with one mistake fails the checks about it", { concurrency: 8 }, () => {
  for (const [mistake, ids] of mistakes) {
    test(mistake, async (t) => {
      const server = await startReferenceServer([mistake]);
      t.after(() => server.stop());
      const results = await judge(server, ids, 700);
      const passed = results.filter((result) => !hasFailed(result));
      assert.deepEqual(
        passed.map(({ check, transcript }) => ({ id: check.id, transcript })),
        [],
      );
      // A server that answers nothing would fail them all.
      assert.ok(
        results.every(({ transcript }) => transcript.length > 0),
        results[0]?.message,
      );
    });
  }
});
