import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Process, type ProcessOptions, startProcess } from "./process.js";

/** What one test has running: everything is ended in the opposite order of its start when the test ends. */
export interface Scene {
  /** A folder of this scene's own, removed with it. */
  readonly directory: string;
  start(options: ProcessOptions): Process;
  /** Registers something to end. */
  onEnd(end: () => Promise<unknown> | unknown): void;
  /**
   * A step of the test: a failing one prints what the programs said last. Resolves to whether it passed. It fails after
   * `timeout` milliseconds, by default two minutes: whatever it waits for must give up earlier.
   */
  step(name: string, run: () => Promise<void>, timeout?: number): Promise<boolean>;
}

/** Sets a scene for a test; the steps run as its subtests. */
export async function createScene(t: TestContext): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-e2e-"));
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const processes: Process[] = [];
  t.after(async () => {
    for (const end of ends.reverse()) {
      await Promise.resolve(end()).catch((error: unknown) => t.diagnostic(`while ending: ${String(error)}`));
    }
    await rm(directory, { recursive: true, force: true });
  });
  return {
    directory,
    start(options) {
      const started = startProcess(options);
      processes.push(started);
      ends.push(() => started.stop());
      return started;
    },
    onEnd: (end) => ends.push(end),
    async step(name, run, timeout = 120_000) {
      let passed = false;
      await t.test(name, { timeout }, async () => {
        try {
          await run();
          passed = true;
        } catch (error) {
          for (const { name, pid, stdout, stderr } of processes) {
            console.error(`--- ${name} (pid ${pid}), last of standard output:\n${stdout.slice(-10).join("\n")}`);
            console.error(`--- ${name} (pid ${pid}), last of standard error:\n${stderr.slice(-40).join("\n")}`);
          }
          throw error;
        }
      });
      return passed;
    },
  };
}
