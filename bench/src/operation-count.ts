import type { HeapProfiler, Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

/** What a piece of work cost, in things that can be counted: the same on a slow machine and on a busy one. */
export interface Operations {
  /** How often any function of the product, or any block in one (a branch, the body of a loop), was run. */
  readonly steps: number;
  /** Bytes that were allocated, whoever did it: what V8 does inside, such as to copy a map, has no steps but allocates. */
  readonly bytes: number;
  /** The same steps by function, the most first; for people. */
  readonly where: readonly { readonly name: string; readonly steps: number }[];
  /** How often functions of a name were called. */
  calls(name: string): number;
}

/** Counts what is done, with no help from the code that does it. */
export interface OperationCounter {
  /** What `work` costs until it is done. One at a time. */
  count(work: () => Promise<void>): Promise<Operations>;
  close(): void;
}

/** The product's own code and what encodes and parses for it; not Node's, and not that of the tests. */
const counted = /\/packages\/[^/]+\/(src|dist)\/|\/node_modules\/(@bufbuild|yaml)\//;

/**
 * V8 counts the calls of every function and block for its code coverage; that is what is read here. To be started before the code that is
 * counted runs for the first time: what was compiled before has counts of functions only.
 */
export async function createOperationCounter(): Promise<OperationCounter> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return {
    async count(work) {
      // Takes what was counted so far with it.
      await session.post("Profiler.takePreciseCoverage");
      await session.post("HeapProfiler.startSampling", {
        samplingInterval: 64,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      } as HeapProfiler.StartSamplingParameterType);
      await work();
      const { profile } = await session.post("HeapProfiler.stopSampling");
      const { result } = await session.post("Profiler.takePreciseCoverage");
      return operationsOf(result, allocatedIn(profile.head));
    },
    close() {
      session.disconnect();
    },
  };
}

function allocatedIn({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + allocatedIn(child), selfSize);
}

function operationsOf(scripts: readonly Profiler.ScriptCoverage[], bytes: number): Operations {
  const steps = new Map<string, number>();
  const calls = new Map<string, number>();
  let sum = 0;
  for (const { url, functions } of scripts) {
    if (!counted.test(url)) continue;
    const file = url.slice(url.lastIndexOf("/") + 1).replace(/\?.*/, "");
    for (const { functionName, ranges } of functions) {
      const called = ranges[0]?.count ?? 0;
      if (called === 0) continue;
      const all = ranges.reduce((total, { count }) => total + count, 0);
      const name = `${functionName === "" ? "(anonymous)" : functionName} ${file}`;
      sum += all;
      steps.set(name, (steps.get(name) ?? 0) + all);
      calls.set(functionName, (calls.get(functionName) ?? 0) + called);
    }
  }
  const where = Array.from(steps, ([name, count]) => ({ name, steps: count })).sort((a, b) => b.steps - a.steps);
  return { steps: sum, bytes, where, calls: (name) => calls.get(name) ?? 0 };
}
