import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clientChecks } from "./checks/client/client-checks.js";
import { runClientChecks } from "./run/run-client-checks.js";
import { type ClientMistake, clientMistakes } from "./testing/client/client-mistakes.js";
import { referenceClient } from "./testing/client/reference-client.js";
import { hasFailed } from "./testing/has-failed.js";
import type { ProtocolVariant } from "./wire/messages.js";

function judge(variant: ProtocolVariant, ids: readonly string[], answerMs: number, mistake?: ClientMistake) {
  return runClientChecks({
    start: referenceClient(variant, mistake),
    bounds: { answerMs, quietMs: 50, checkMs: 120_000, totalMs: 240_000 },
    checks: clientChecks.filter(({ id }) => ids.includes(id)),
    requirements: "9999-12",
    expected: new Map(),
    parallel: 4,
    onResult: () => {},
  });
}

/** What only requests of SotW have. */
const sotwOnly = new Set<string>(["client-ack-names", "client-nack-names", "version-claimed", "names-dropped"]);
const ids = clientChecks.map(({ id }) => id);

describe("clients", { concurrency: 8 }, () => {
  for (const variant of ["sotw", "delta"] as const) {
    test(`the reference client passes every check, ${variant}`, async () => {
      const results = await judge(variant, ids, 10_000);
      const others = results.filter((result) => result.status !== "passed" || hasFailed(result));
      const shown = others.map(({ check, message, transcript }) => ({ id: check.id, message, transcript }));
      const skipped = shown.filter(({ id }) => variant === "delta" && sotwOnly.has(id));
      assert.deepEqual(shown, skipped);
    });

    for (const [mistake, caught] of Object.entries(clientMistakes)) {
      if (variant === "delta" && sotwOnly.has(mistake)) continue;
      test(`a client with one mistake fails the checks about it: ${mistake}, ${variant}`, async () => {
        const results = await judge(variant, caught, 1_000, mistake as ClientMistake);
        const passed = results.filter((result) => !hasFailed(result));
        assert.deepEqual(
          passed.map(({ check, transcript }) => ({ id: check.id, transcript })),
          [],
        );
        // A client that does nothing would fail them all.
        assert.ok(results.every(({ transcript }) => transcript.length > 0));
      });
    }
  }
});

test("every check of clients fails for some mistake", () => {
  assert.deepEqual([...new Set(Object.values(clientMistakes).flat())].sort(), [...ids].sort());
});
