import assert from "node:assert/strict";
import { test } from "node:test";
import { type OrderRun, runOrder } from "./testing/order/order-run.js";

/** As for the model: `SEED=7` plays one seed and prints its story; `RUNS=100000` plays more. */
const { SEED, RUNS, STEPS } = process.env;
const steps = Number(STEPS ?? 60);
const runs = Number(RUNS ?? 2000);
const budget = RUNS === undefined ? 10_000 : Number.POSITIVE_INFINITY;
const leastRuns = 100;

test("at no moment a client serves by what names something that it was never sent, or that was taken from it", (context) => {
  const started = performance.now();
  const first = SEED === undefined ? 1 : Number(SEED);
  const last = SEED === undefined ? runs : first;
  let seed = first;
  for (; seed <= last; seed++) {
    if (seed - first >= leastRuns && performance.now() - started > budget) break;
    const run = runOrder(seed, steps);
    if (run.failure !== undefined) fail(seed, run);
    if (SEED !== undefined) context.diagnostic(run.story.join("\n"));
  }
  context.diagnostic(`${seed - first} runs of ${steps} steps in ${Math.round(performance.now() - started)} ms`);
});

function fail(seed: number, { story, failure }: OrderRun): never {
  const small = shrink(seed);
  const lines = (small.failure === undefined ? story : small.story).map((line) => `  ${line}`);
  const why = small.failure ?? failure;
  assert.fail(
    [`seed ${seed}: ${why?.message}`, ...lines, `again: SEED=${seed} STEPS=${steps}`, `${why?.stack}`].join("\n"),
  );
}

/** Leaves out whatever steps the failure does not need. */
function shrink(seed: number): OrderRun {
  let without = new Set<number>();
  let best = runOrder(seed, steps, without);
  for (let at = 1; at <= steps; at++) {
    const more = new Set([...without, at]);
    const attempt = runOrder(seed, steps, more);
    if (attempt.failure === undefined || attempt.story.length > best.story.length) continue;
    best = attempt;
    without = more;
  }
  return best;
}
