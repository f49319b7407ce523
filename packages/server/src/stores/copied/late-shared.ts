import { type Finding, XdskitError } from "@xdskit/api";
import type {
  SharedEntry,
  SharedKeys,
  SharedListener,
  SharedPut,
  SharedSession,
  SharedSessionOptions,
  SharedVersion,
  StoreWatch,
} from "../../contracts/stores/shared-keys.js";

/**
 * The shared keys of a store that is reached later: until then it is away. `copied` has what a copy has of the entries
 * that begin so; undefined: there is no copy of them.
 */
export class LateShared implements SharedKeys {
  readonly #away: () => Finding;
  readonly #copied: (prefix: string) => Promise<readonly SharedEntry[]> | undefined;
  readonly #waiting = new Set<LateWatch<SharedKeys>>();
  #reached: SharedKeys | undefined;

  constructor(
    away: () => Finding,
    copied: (prefix: string) => Promise<readonly SharedEntry[]> | undefined = () => undefined,
  ) {
    this.#away = away;
    this.#copied = copied;
  }

  reached(shared: SharedKeys): void {
    this.#reached = shared;
    for (const { begin } of this.#waiting) begin(shared);
    this.#waiting.clear();
  }

  async list(prefix: string): Promise<readonly SharedEntry[]> {
    if (this.#reached !== undefined) return await this.#reached.list(prefix);
    return await (this.#copied(prefix) ?? this.#now().list(prefix));
  }

  async put(put: SharedPut): Promise<SharedVersion | undefined> {
    return await this.#now().put(put);
  }

  async remove(key: string, expected: SharedVersion | "any"): Promise<boolean> {
    return await this.#now().remove(key, expected);
  }

  async session(options: SharedSessionOptions): Promise<SharedSession> {
    return await this.#now().session(options);
  }

  watch(prefix: string, listener: SharedListener): StoreWatch {
    return lateWatch(this.#reached, this.#waiting, listener, this.#away, (shared) => shared.watch(prefix, listener));
  }

  #now(): SharedKeys {
    if (this.#reached === undefined) throw new XdskitError([this.#away()]);
    return this.#reached;
  }
}

/** A watch that waits until the watched store is reached. */
export interface LateWatch<Watched> {
  begin(watched: Watched): void;
  /** The store is away for another reason now. */
  isAway(): void;
}

/** A watch of what may be reached later: until then its listener hears that it is away. */
export function lateWatch<Watched>(
  reached: Watched | undefined,
  waiting: Set<LateWatch<Watched>>,
  listener: { away(finding: Finding): void },
  away: () => Finding,
  watch: (watched: Watched) => StoreWatch,
): StoreWatch {
  if (reached !== undefined) return watch(reached);
  let isClosed = false;
  let begun: StoreWatch | undefined;
  const late: LateWatch<Watched> = {
    begin(watched) {
      if (!isClosed) begun = watch(watched);
    },
    isAway() {
      if (!isClosed && begun === undefined) listener.away(away());
    },
  };
  waiting.add(late);
  queueMicrotask(() => late.isAway());
  return {
    close() {
      isClosed = true;
      waiting.delete(late);
      begun?.close();
    },
  };
}
