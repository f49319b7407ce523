import type { SharedSession, SharedSessionOptions } from "../../contracts/stores/shared-keys.js";

/** A session as its store keeps it. */
interface KeptSession {
  readonly id: string;
  /** Milliseconds of the clock by which it ends. */
  readonly now: () => number;
  /** Gives it its whole time again; false: it is over there. Rejects if the store is away. */
  readonly renew: () => Promise<boolean>;
  /** Removes it, and what is kept with it. */
  readonly end: () => Promise<void>;
}

/** A session that this process keeps alive. */
export class LiveSession implements SharedSession {
  readonly #kept: KeptSession;
  readonly #options: SharedSessionOptions;
  readonly #over: () => void;
  /** Counted from before the store was asked: it ends the session later, never earlier. */
  #until: number;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `asked`: when the store was asked to make it. `over` is called when it is over, whyever. */
  constructor(kept: KeptSession, asked: number, options: SharedSessionOptions, over: () => void) {
    this.#kept = kept;
    this.#until = asked + options.ttlMs;
    this.#options = options;
    this.#over = over;
    this.#goOn();
  }

  get id(): string {
    return this.#kept.id;
  }

  get isOver(): boolean {
    return this.#isEnded || this.#kept.now() >= this.#until;
  }

  async close(): Promise<void> {
    if (this.#isEnded) return;
    this.#end();
    await this.#kept.end();
  }

  #goOn(): void {
    this.#timer = setTimeout(() => void this.#renew(), this.#options.ttlMs / 3).unref();
  }

  async #renew(): Promise<void> {
    const asked = this.#kept.now();
    // A store that is away may be back in time.
    const isRenewed = await this.#kept.renew().catch(() => undefined);
    if (this.#isEnded) return;
    // `isOver` is final: its holder may have acted on it, and would never hear that the session goes on.
    if (isRenewed === false || this.isOver) return this.#lost();
    if (isRenewed) this.#until = asked + this.#options.ttlMs;
    this.#goOn();
  }

  #lost(): void {
    this.#end();
    // Others may have been told that it is over: what it holds must not come back.
    void this.#kept.end().catch(() => {});
    this.#options.lost();
  }

  #end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#over();
  }
}
