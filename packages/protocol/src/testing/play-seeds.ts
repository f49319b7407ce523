import assert from "node:assert/strict";
import type { TestContext } from "node:test";

/** What one run did, line by line, and why it failed, if it did. */
export interface Play {
  readonly story: readonly string[];
  readonly failure: Error | undefined;
}

/** Plays random steps from a seed; those in `without` are left out: that is how a failure is made smaller. */
export type PlaySeed = (seed: number, steps: number, without?: ReadonlySet<number>) => Play;

const { SEED, RUNS, STEPS } = process.env;
const steps = Number(STEPS ?? 60);
/** What the suite may take on a slow machine, milliseconds; where a number of runs is asked for there is no such bound. */
const budget = 10_000;
const leastRuns = 100;

/** How many seeds are played: so many that the suite takes some seconds, and what is asked for besides. */
export interface Runs {
  readonly usual: number;
  /** By the environment, for this test alone. */
  readonly asked: string | undefined;
}

/** `SEED=7` plays one seed and prints its story; `RUNS=100000` plays more than the few seconds of the suite; `STEPS=200` longer ones. */
export function playSeeds(context: TestContext, play: PlaySeed, { usual, asked = RUNS }: Runs): void {
  const started = performance.now();
  const bound = asked === undefined ? budget : Number.POSITIVE_INFINITY;
  const first = SEED === undefined ? 1 : Number(SEED);
  const last = SEED === undefined ? Number(asked ?? usual) : first;
  let seed = first;
  for (; seed <= last; seed++) {
    if (seed - first >= leastRuns && performance.now() - started > bound) break;
    const run = play(seed, steps);
    if (run.failure !== undefined) fail(play, seed, run);
    if (SEED !== undefined) context.diagnostic(run.story.join("\n"));
  }
  context.diagnostic(`${seed - first} runs of ${steps} steps in ${Math.round(performance.now() - started)} ms`);
}

function fail(play: PlaySeed, seed: number, { story, failure }: Play): never {
  const small = shrink(play, seed);
  const lines = (small.failure === undefined ? story : small.story).map((line) => `  ${line}`);
  const why = small.failure ?? failure;
  assert.fail(
    [`seed ${seed}: ${why?.message}`, ...lines, `again: SEED=${seed} STEPS=${steps}`, `${why?.stack}`].join("\n"),
  );
}

/** Leaves out whatever steps the failure does not need. */
function shrink(play: PlaySeed, seed: number): Play {
  let without = new Set<number>();
  let best = play(seed, steps, without);
  for (let size = Math.ceil(steps / 4); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from <= steps; from += size) {
      const more = new Set([...without, ...Array.from({ length: size }, (_, index) => from + index)]);
      const attempt = play(seed, steps, more);
      if (attempt.failure === undefined || attempt.story.length > best.story.length) continue;
      best = attempt;
      without = more;
    }
  }
  return best;
}
