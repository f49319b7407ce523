import type { Finding } from "@xdskit/api";
import type { Retention, Store } from "../../contracts/stores/store.js";
import { LatestWork } from "../basics/latest-work.js";
import { writeAgainMs } from "../basics/paces.js";
import { storeFindings } from "../basics/store-finding.js";

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
  readonly #runs: LatestWork<void>;

  constructor({ store, retention, onProblem }: RetainingOptions) {
    this.#runs = new LatestWork<void>(
      async () => {
        const kept = typeof retention === "function" ? retention() : retention;
        // The next change asks again.
        await store.retain(kept).catch((error: unknown) => onProblem(storeFindings(error)));
      },
      () => writeAgainMs,
    );
  }

  /** There may be something old now. */
  soon(): void {
    this.#runs.take();
  }

  /** Waits for the run that is under way. */
  async close(): Promise<void> {
    await this.#runs.close();
  }
}
