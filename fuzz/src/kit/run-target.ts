import fc from "fast-check";
import type { FuzzTarget } from "./target.js";
import type { Watchdog } from "./watchdog.js";

/** The time to try, and the start. */
export interface RunOptions {
  readonly seed: number;
  /** The place of one input among those of the seed, as a failure prints it: only that one is tried. */
  readonly path?: string | undefined;
  readonly runs: number;
  /** Milliseconds after which no further input is tried. */
  readonly budgetMs: number;
  readonly watchdog?: Watchdog | undefined;
}

/** The result. */
export interface RunResult {
  readonly runs: number;
  readonly ms: number;
  /** Undefined if everything held. */
  readonly failure: string | undefined;
}

/** The time for making a failing input smaller. */
const shrinkMs = 20_000;

/**
 * Tries one target with inputs from a seed. A failure is told with the smallest input that was found, and how to see
 * it again.
 */
export async function runTarget(target: FuzzTarget, options: RunOptions): Promise<RunResult> {
  const { seed, path, runs, budgetMs, watchdog } = options;
  const started = performance.now();
  const session = await target.open();
  let tried = 0;
  const property = session.property.beforeEach(async (before) => {
    await before();
    tried += 1;
    watchdog?.alive(`${target.name} seed ${seed} run ${tried}`);
  });
  try {
    const base = { seed, verbose: 0, markInterruptAsFailure: false } as const;
    const first = await fc.check(property, { ...base, path, numRuns: runs, interruptAfterTimeLimit: budgetMs });
    if (first.failed) {
      const at = first.counterexamplePath;
      if (at === null) return done("one input took longer than all were to take");
      const small = await fc.check(property, { ...base, path: at, numRuns: 1, interruptAfterTimeLimit: shrinkMs });
      return done(report(small.failed && small.counterexample !== null ? small : first));
    }
    try {
      await session.finish();
    } catch (error) {
      return done(`${textOf(error)}\nafter ${tried} inputs of seed ${seed}, ${again("")}`);
    }
    return done(undefined);
  } finally {
    await session.close();
  }

  function done(failure: string | undefined): RunResult {
    return { runs: tried, ms: performance.now() - started, failure };
  }
  function again(at: string): string {
    return `again: npm run fuzz -- --seed ${seed}${at === "" ? "" : ` --path ${at}`} ${target.name}`;
  }
  function report(details: fc.RunDetails<[unknown]>): string {
    const { counterexample, counterexamplePath, errorInstance } = details;
    const input = counterexample === null ? "none" : session.show(counterexample[0]);
    return `${textOf(errorInstance)}\nsmallest input: ${input}\n${again(counterexamplePath ?? "")}`;
  }
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${textOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
