import { XdskitError } from "@xdskit/api";
import type { LayerName } from "../../settings/group-settings.js";

/** The most refusals to look into in one turn. The others are tried in a later one. */
const maxRefusals = 20;

/** The options of ended leases. */
export interface EndedLeasesOptions {
  /** Runs a task in its turn. */
  readonly run: (task: () => Promise<void>) => Promise<void>;
  /** Removes what these hold, in one change. */
  readonly end: (layer: LayerName, ids: readonly string[]) => Promise<void>;
  /** These could not be ended. */
  readonly failed: (ids: readonly string[], error: unknown) => void;
}

/**
 * Leases whose time is over. All of one layer that are over together end in one change: thousands may, when their owner
 * is cut off. Where that is refused, those that are the cause are found, and the others end.
 */
export class EndedLeases {
  readonly #options: EndedLeasesOptions;
  readonly #waiting = new Map<LayerName, Set<string>>();

  constructor(options: EndedLeasesOptions) {
    this.#options = options;
  }

  add(layer: LayerName, id: string): void {
    const known = this.#waiting.get(layer);
    if (known !== undefined) return void known.add(id);
    const ids = new Set([id]);
    this.#waiting.set(layer, ids);
    const task = () => {
      this.#waiting.delete(layer);
      return this.#end(layer, [...ids], { refusals: 0 });
    };
    this.#options.run(task).catch((error) => {
      this.#waiting.delete(layer);
      this.#options.failed([...ids], error);
    });
  }

  async #end(layer: LayerName, ids: readonly string[], seen: { refusals: number }): Promise<void> {
    try {
      await this.#options.end(layer, ids);
    } catch (error) {
      seen.refusals += 1;
      const isRefusal = error instanceof XdskitError && error.code !== "XDSKIT_STORE";
      if (ids.length === 1 || !isRefusal || seen.refusals > maxRefusals) return this.#options.failed(ids, error);
      const half = Math.ceil(ids.length / 2);
      await this.#end(layer, ids.slice(0, half), seen);
      await this.#end(layer, ids.slice(half), seen);
    }
  }
}
