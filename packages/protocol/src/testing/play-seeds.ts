import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { times } from "./effort.js";

/** One run: its story line by line, and its failure, if it failed. */
interface Play {
  readonly story: readonly string[];
  readonly failure: Error | undefined;
}

/**
 * Plays random steps from a seed, and throws if something does not hold. It skips the steps in `without`: that makes a
 * failure smaller. `say` takes the story line by line.
 */
export type RunSeed = (seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void) => void;

const { SEED, STEPS } = process.env;
const steps = Number(STEPS ?? 60);

/**
 * Plays `seeds` seeds, times the effort. `SEED=7` plays one seed and prints its story, `EFFORT=100` plays more seeds,
 * `STEPS=200` longer ones.
 */
export function playSeeds(context: TestContext, run: RunSeed, seeds: number): void {
  const started = performance.now();
  const first = SEED === undefined ? 1 : Number(SEED);
  const last = SEED === undefined ? times(seeds) : first;
  let seed = first;
  for (; seed <= last; seed++) {
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

/** Leaves out the steps that the failure does not need. */
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
