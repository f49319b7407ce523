import assert from "node:assert/strict";
import { test } from "node:test";
import { type ModelRun, runModel } from "./testing/model/model-run.js";

/** `SEED=7` plays one seed and prints its story; `RUNS=100000` plays more than the few seconds of the suite; `STEPS=200` longer ones. */
const { SEED, RUNS, STEPS } = process.env;
const steps = Number(STEPS ?? 60);
const runs = Number(RUNS ?? 3000);
/** What the suite may take on a slow machine, milliseconds; RUNS has no such bound. */
const budget = RUNS === undefined ? 10_000 : Number.POSITIVE_INFINITY;
const leastRuns = 100;

test("what a client holds in the end is what it asked for, whatever happens on the way", (context) => {
  const started = performance.now();
  const first = SEED === undefined ? 1 : Number(SEED);
  const last = SEED === undefined ? runs : first;
  let seed = first;
  for (; seed <= last; seed++) {
    if (seed - first >= leastRuns && performance.now() - started > budget) break;
    const run = runModel(seed, steps);
    if (run.failure !== undefined) fail(seed, run);
    if (SEED !== undefined) context.diagnostic(run.story.join("\n"));
  }
  context.diagnostic(`${seed - first} runs of ${steps} steps in ${Math.round(performance.now() - started)} ms`);
});

function fail(seed: number, { story, failure }: ModelRun): never {
  const small = shrink(seed);
  const lines = (small.failure === undefined ? story : small.story).map((line) => `  ${line}`);
  const why = small.failure ?? failure;
  assert.fail(
    [`seed ${seed}: ${why?.message}`, ...lines, `again: SEED=${seed} STEPS=${steps}`, `${why?.stack}`].join("\n"),
  );
}

/** Leaves out whatever steps the failure does not need. */
function shrink(seed: number): ModelRun {
  let without = new Set<number>();
  let best = runModel(seed, steps, without);
  for (let size = Math.ceil(steps / 4); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps; from += size) {
      const more = new Set([...without, ...Array.from({ length: size }, (_, index) => from + index)]);
      const attempt = runModel(seed, steps, more);
      if (attempt.failure === undefined || attempt.story.length > best.story.length) continue;
      best = attempt;
      without = more;
    }
  }
  return best;
}
