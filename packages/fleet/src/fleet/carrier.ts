import { type Backoff, createWaits } from "@xdskit/api";
import type { Tally } from "../figures/tally.js";
import type { BenchNode } from "./bench-node.js";
import { type BenchTarget, type FleetConnection, openConnection, smallWindow, usualWindow } from "./connection.js";

/** What all carriers of a fleet share. */
export interface CarrierContext {
  readonly tally: Tally;
  /** A first attempt ended, with success or not: the next carrier may try. */
  readonly tried: () => void;
}

/** As in Envoy, with more jitter: a fleet does not come back at the same moment. */
const backoff: Backoff = { firstMs: 500, factor: 2, maxMs: 10_000, jitter: 0.5 };

/** A connection with its nodes; it is made again when it is lost. */
export class Carrier {
  readonly nodes: readonly BenchNode[];
  readonly #target: BenchTarget;
  readonly #context: CarrierContext;
  readonly #hasStalling: boolean;
  #connection: FleetConnection | undefined;
  #isUp = false;
  /** Between attempts that fail, and between streams that end unanswered. */
  readonly #waits = createWaits(backoff, () => Math.random());
  readonly #streamWaits = createWaits(backoff, () => Math.random());
  #timer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #retries: (() => void)[] = [];
  #isTried = false;
  #isClosed = false;

  /** `hasStalling`: a node on it will stop reading. */
  constructor(target: BenchTarget, nodes: readonly BenchNode[], hasStalling: boolean, context: CarrierContext) {
    this.nodes = nodes;
    this.#target = target;
    this.#context = context;
    this.#hasStalling = hasStalling;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  dial(): void {
    if (this.#isClosed) return;
    for (const node of this.nodes) node.dialled();
    const { connections } = this.#context.tally;
    const listener = {
      up: () => {
        this.#isUp = true;
        this.#waits.reset();
        this.#streamWaits.reset();
        connections.opened++;
        this.#tried();
        for (const node of this.nodes) node.attach(opened);
      },
      down: (status: { readonly code: number; readonly message: string }) => {
        // If the connection was up, its streams reported the error.
        if (!this.#isUp) {
          connections.failed++;
          this.#context.tally.error(status);
        }
        this.#gone();
        this.#tried();
        this.#timer = setTimeout(() => this.dial(), this.#waits.next());
      },
    };
    const opened = openConnection(this.#target, listener, this.#hasStalling ? smallWindow : usualWindow);
    this.#connection = opened;
  }

  /**
   * Calls later, unless the connection is lost meanwhile: then everything is opened again anyway. Streams that end
   * together wait once. As in Envoy, a stream that was answered starts the waits again.
   */
  retry(again: () => void, wasAnswered: boolean): void {
    if (wasAnswered) this.#streamWaits.reset();
    this.#retries.push(again);
    if (this.#retries.length > 1) return;
    this.#retryTimer = setTimeout(() => {
      for (const retry of this.#retries.splice(0)) retry();
    }, this.#streamWaits.next()).unref();
  }

  /** Cut, and dialled again at once. */
  cut(): void {
    if (!this.#isUp) return;
    const cut = this.#connection;
    this.#gone();
    cut?.close();
    this.dial();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const last = this.#connection;
    this.#gone();
    last?.close();
  }

  #gone(): void {
    this.#isUp = false;
    this.#connection = undefined;
    clearTimeout(this.#retryTimer);
    this.#retries.length = 0;
    for (const node of this.nodes) node.detach();
  }

  #tried(): void {
    if (!this.#isTried) this.#context.tried();
    this.#isTried = true;
  }
}
