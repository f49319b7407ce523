import assert from "node:assert/strict";
import type { TestContext } from "node:test";

/** What one run did, line by line, and why it failed, if it did. */
interface Play {
  readonly story: readonly string[];
  readonly failure: Error | undefined;
}

/**
 * Plays random steps from a seed, and throws if something does not hold; those in `without` are left out: that is how a failure is made smaller. `say` takes the story, line
 * by line.
 */
export type RunSeed = (seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void) => void;

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
export function playSeeds(context: TestContext, run: RunSeed, { usual, asked = RUNS }: Runs): void {
  const started = performance.now();
  const bound = asked === undefined ? budget : Number.POSITIVE_INFINITY;
  const first = SEED === undefined ? 1 : Number(SEED);
  const last = SEED === undefined ? Number(asked ?? usual) : first;
  let seed = first;
  for (; seed <= last; seed++) {
    if (seed - first >= leastRuns && performance.now() - started > bound) break;
    const { story, failure } = play(run, seed);
    if (failure !== undefined) fail(run, seed, { story, failure });
    if (SEED !== undefined) context.diagnostic(story.join("\n"));
  }
  context.diagnostic(`${seed - first} runs of ${steps} steps in ${Math.round(performance.now() - started)} ms`);
}

function play(run: RunSeed, seed: number, without: ReadonlySet<number> = new Set()): Play {
  const story: string[] = [];
  try {
    run(seed, steps, without, (line) => story.push(line));
    return { story, failure: undefined };
  } catch (error) {
    return { story, failure: error as Error };
  }
}

function fail(run: RunSeed, seed: number, { story, failure }: Play): never {
  const small = shrink(run, seed);
  const lines = (small.failure === undefined ? story : small.story).map((line) => `  ${line}`);
  const why = small.failure ?? failure;
  assert.fail(
    [`seed ${seed}: ${why?.message}`, ...lines, `again: SEED=${seed} STEPS=${steps}`, `${why?.stack}`].join("\n"),
  );
}

/** Leaves out whatever steps the failure does not need. */
function shrink(run: RunSeed, seed: number): Play {
  let without = new Set<number>();
  let best = play(run, seed);
  for (let size = Math.ceil(steps / 4); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from <= steps; from += size) {
      const more = new Set([...without, ...Array.from({ length: size }, (_, index) => from + index)]);
      const attempt = play(run, seed, more);
      if (attempt.failure === undefined || attempt.story.length > best.story.length) continue;
      best = attempt;
      without = more;
    }
  }
  return best;
}
