import type { HeapProfiler, Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

/** The cost of a piece of work, in things that can be counted: the same on a slow machine and on a busy one. */
export interface Operations {
  /** The number of runs of all functions of the product, and of all blocks in them (a branch, the body of a loop). */
  readonly steps: number;
  /**
   * Bytes allocated by any code: V8's internal work, such as copying a map, has no steps but allocates.
   */
  readonly bytes: number;
  /** The same steps by function, the most first; for people. */
  readonly where: readonly { readonly name: string; readonly steps: number }[];
}

/** Counts operations, without help from the counted code. */
export interface OperationCounter {
  /**
   * The cost of `work` until it is done: the least of this many times, each number by itself, since other work of the
   * process (a compilation, a garbage collection) adds to some of them. One at a time.
   */
  count(work: () => Promise<void>, times: number): Promise<Operations>;
  close(): void;
}

/** The product's own code, and its libraries for encoding and parsing; not Node's code, and not that of the tests. */
const counted = /\/packages\/[^/]+\/(src|dist)\/|\/node_modules\/(@bufbuild|yaml)\//;

/**
 * V8 counts the calls of every function and block for its code coverage; these counts are read here. Start it before
 * the counted code runs for the first time: code that was compiled before has counts of functions only.
 */
export async function createOperationCounter(): Promise<OperationCounter> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return {
    async count(work, times) {
      // It resets the counts so far.
      await session.post("Profiler.takePreciseCoverage");
      let least: Operations | undefined;
      for (let round = 0; round < times; round += 1) {
        await session.post("HeapProfiler.startSampling", sampling);
        await work();
        const { profile } = await session.post("HeapProfiler.stopSampling");
        const { result } = await session.post("Profiler.takePreciseCoverage");
        const found = operationsOf(result, allocatedIn(profile.head));
        const bytes = Math.min(found.bytes, least?.bytes ?? found.bytes);
        least = { ...(least === undefined || found.steps < least.steps ? found : least), bytes };
      }
      if (least === undefined) throw new Error("nothing was counted");
      return least;
    },
    close() {
      session.disconnect();
    },
  };
}

/** Every few objects, and those that are garbage by then too: Node's types do not know of the latter. */
const sampling = {
  samplingInterval: 64,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
} as HeapProfiler.StartSamplingParameterType;

function allocatedIn({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + allocatedIn(child), selfSize);
}

function operationsOf(scripts: readonly Profiler.ScriptCoverage[], bytes: number): Operations {
  const steps = new Map<string, number>();
  let sum = 0;
  for (const { url, functions } of scripts) {
    if (!counted.test(url)) continue;
    const library = url.lastIndexOf("/node_modules/");
    const file = url.slice((library === -1 ? url.lastIndexOf("/") : library) + 1).replace(/\?.*/, "");
    for (const { functionName, ranges } of functions) {
      const called = ranges[0]?.count ?? 0;
      if (called === 0) continue;
      const all = ranges.reduce((total, { count }) => total + count, 0);
      const name = `${functionName === "" ? "(anonymous)" : functionName} ${file}`;
      sum += all;
      steps.set(name, (steps.get(name) ?? 0) + all);
    }
  }
  const where = Array.from(steps, ([name, count]) => ({ name, steps: count })).sort((a, b) => b.steps - a.steps);
  return { steps: sum, bytes, where };
}
