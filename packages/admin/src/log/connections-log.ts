import type { Log } from "./log.js";

/** How long to gather before a line. */
const gatherMs = 1_000;
/** How long from one line to the next, so that a fleet that comes and goes fills no disk. */
const pauseMs = 10_000;
const maxNames = 3;

/**
 * Sums up the clients that come and go, in a line of `info` at most every ten seconds: thousands of Envoys connect at
 * once after a restart.
 */
export class ConnectionsLog {
  readonly #log: Log;
  readonly #now: () => number;
  #open = 0;
  #came: string[] = [];
  #went = 0;
  #timer: NodeJS.Timeout | undefined;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  came(node: string): void {
    this.#open += 1;
    this.#came.push(node);
    this.#tellLater();
  }

  went(): void {
    this.#open -= 1;
    this.#went += 1;
    this.#tellLater();
  }

  #tellLater(): void {
    const wait = Math.max(gatherMs, this.#loggedAt + pauseMs - this.#now());
    this.#timer ??= setTimeout(() => this.#tell(), wait).unref();
  }

  #tell(): void {
    const [connected, disconnected] = [this.#came.length, this.#went];
    const nodes = [...new Set(this.#came)].slice(0, maxNames);
    const fields = { connected, disconnected, open: this.#open, ...(nodes.length === 0 ? {} : { nodes }) };
    this.#log.info("clients-changed", fields, "clients came or went");
    this.#timer = undefined;
    this.#loggedAt = this.#now();
    [this.#came, this.#went] = [[], 0];
  }
}
