import type { Finding } from "@xdskit/api";
import type { Retention, Store } from "../../contracts/store.js";
import { retentionNow } from "./retention-now.js";
import { storeFindings } from "./store-finding.js";

interface RetainingOptions {
  readonly store: Pick<Store, "retain">;
  readonly retention: Retention | (() => Retention);
  readonly onProblem: (findings: readonly Finding[]) => void;
}

/**
 * Removes old history beside everything else: in a store over the network that may take longer than a writer waits. One
 * run at a time; all that ask meanwhile share the next one.
 */
export class Retaining {
  readonly #options: RetainingOptions;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isClosed = false;

  constructor(options: RetainingOptions) {
    this.#options = options;
  }

  /** There may be something old now. */
  soon(): void {
    if (this.#isClosed) return;
    this.#isAsked = true;
    this.#running ??= this.#run();
  }

  /** Waits for the run that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, onProblem } = this.#options;
    do {
      this.#isAsked = false;
      try {
        await store.retain(retentionNow(this.#options));
      } catch (error) {
        onProblem(storeFindings(error));
      }
    } while (this.#isAsked && !this.#isClosed);
    this.#running = undefined;
  }
}
