import cluster, { type Worker } from "node:cluster";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Log } from "@xdskit/admin/log";
import type { Terminal } from "../../output/terminal.js";
import { exitStatus } from "../../process/exit-status.js";
import { listenForReload } from "../../process/reload.js";
import { serviceManager, unnotified } from "../../process/service-manager.js";
import { listenForStop } from "../../process/signals.js";
import { environmentOf } from "./worker-slot.js";

/** A process that ended by itself is started again after this many milliseconds, and after twice as long each time. */
const firstRestartMs = 100;
const maxRestartMs = 30_000;
/** A process that served for this long starts again after the short wait. */
const longRunMs = 60_000;
/** The contract allows 5 s for a stop; whoever needs longer is ended. */
const stopMs = 4_800;

/** A process, as the others see it. */
interface WorkerOfSlot {
  readonly slot: number;
  worker: Worker | undefined;
  startedAt: number;
  restartMs: number;
  /** It was ready at least once. */
  wasReady: boolean;
}

/**
 * Runs a command in several processes behind the same ports; resolves to the exit status. This process only hands out
 * connections, one to each in turn, and starts again what ends.
 */
export async function superviseProcesses(
  count: number,
  { terminal, log }: { readonly terminal: Terminal; readonly log: Log },
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-"));
  const signals = listenForStop();
  // Before the workers begin, which are not the service.
  const manager = serviceManager((reason) => log.warn("service-manager-untold", { reason }, unnotified));
  const supervisor = new Supervisor(count, directory, terminal, log, () => manager.ready());
  const forgetReload = listenForReload(() => supervisor.reload());
  try {
    const failed = supervisor.start();
    const stopped = signals.stop.then((signal) => {
      manager.stopping();
      return supervisor.stop(signal);
    });
    return await Promise.race([failed, stopped]);
  } finally {
    forgetReload();
    signals.release();
    await rm(directory, { recursive: true, force: true });
  }
}

class Supervisor {
  readonly #count: number;
  readonly #directory: string;
  readonly #terminal: Terminal;
  readonly #log: Log;
  readonly #notify: () => void;
  readonly #slots: WorkerOfSlot[] = [];
  readonly #said = new Set<string>();
  readonly #ended = new Set<() => void>();
  #isStopping = false;
  #isReady = false;
  #fail: (status: number) => void = () => {};

  constructor(count: number, directory: string, terminal: Terminal, log: Log, notify: () => void) {
    this.#count = count;
    this.#directory = directory;
    this.#terminal = terminal;
    this.#log = log;
    this.#notify = notify;
  }

  /** Resolves to the status of the first process if it ends before it serves: what is wrong is wrong for all. */
  start(): Promise<number> {
    const [, program = "", ...args] = process.argv;
    cluster.setupPrimary({ exec: program, args, stdio: ["ignore", "pipe", "inherit", "ipc"] });
    this.#launch({ slot: 1, worker: undefined, startedAt: 0, restartMs: firstRestartMs, wasReady: false });
    return new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** Ends all of them, as the signal would end one. */
  async stop(signal: NodeJS.Signals): Promise<number> {
    this.#isStopping = true;
    const late = setTimeout(() => this.#signal("SIGKILL"), stopMs).unref();
    this.#signal(signal);
    while (this.#slots.some(({ worker }) => worker !== undefined))
      await new Promise<void>((resolve) => this.#ended.add(resolve));
    clearTimeout(late);
    return exitStatus.ok;
  }

  /** Those that serve read again what is on disk; the others read it now. */
  reload(): void {
    for (const { worker, wasReady } of this.#slots) if (wasReady) worker?.process.kill("SIGHUP");
  }

  #signal(signal: NodeJS.Signals): void {
    for (const { worker } of this.#slots) worker?.process.kill(signal);
  }

  #launch(one: WorkerOfSlot): void {
    const { slot } = one;
    const own = { slot, count: this.#count, isAgain: one.startedAt > 0, directory: this.#directory };
    const worker = cluster.fork(environmentOf(own));
    one.worker = worker;
    one.startedAt = performance.now();
    this.#slots[slot - 1] = one;
    worker.once("exit", (code, signal) => this.#exited(one, code, signal));
    worker.on("error", () => {
      // It could not be started, so that no `exit` follows.
      if (worker.process.pid === undefined) this.#exited(one, null, null);
    });
    // Undefined, against its type, where Node could not open the files of a process.
    const output = worker.process.stdout as Readable | null | undefined;
    if (!output) return;
    createInterface(output).on("line", (line) => {
      const [, name] = /^(\w+) listening on /.exec(line) ?? [];
      if (name !== undefined) this.#listening(one, name, line);
      else if (line === "ready") this.#ready(one);
    });
  }

  /** The others follow once the first one has opened its state, and says where it is, or what it waits for. */
  #listening({ slot }: WorkerOfSlot, name: string, line: string): void {
    if (this.#said.has(name)) return;
    this.#said.add(name);
    this.#terminal.out(`${line}\n`);
    if (slot !== 1 || this.#slots.length > 1 || this.#isStopping) return;
    for (let other = 2; other <= this.#count; other += 1)
      this.#launch({ slot: other, worker: undefined, startedAt: 0, restartMs: firstRestartMs, wasReady: false });
  }

  #ready(one: WorkerOfSlot): void {
    if (one.wasReady)
      this.#log.info("worker-back", { worker: one.slot }, "a worker serves in the place of one that ended");
    one.wasReady = true;
    if (this.#isReady || this.#slots.length < this.#count || !this.#slots.every(({ wasReady }) => wasReady)) return;
    this.#isReady = true;
    this.#terminal.out("ready\n");
    this.#notify();
  }

  #exited(one: WorkerOfSlot, code: number | null, signal: string | null): void {
    one.worker = undefined;
    for (const ended of this.#ended) ended();
    this.#ended.clear();
    if (this.#isStopping) return;
    if (one.slot === 1 && !one.wasReady && signal === null) {
      this.#isStopping = true;
      this.#signal("SIGTERM");
      this.#fail(code ?? exitStatus.failed);
      return;
    }
    if (performance.now() - one.startedAt > longRunMs) one.restartMs = firstRestartMs;
    const reason = signal ?? (code === null ? "it could not be started" : `status ${code}`);
    const { slot, restartMs } = one;
    this.#log.error(
      "worker-ended",
      { worker: slot, reason, restartMs },
      "a worker ended, and with it its connections; another follows",
    );
    setTimeout(() => {
      if (!this.#isStopping) this.#launch(one);
    }, restartMs);
    one.restartMs = Math.min(2 * restartMs, maxRestartMs);
  }
}
