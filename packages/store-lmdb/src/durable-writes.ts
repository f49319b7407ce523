import { setImmediate as nextTurn } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import { ABORT, type RootDatabase } from "lmdb";
import { killedAtExit } from "./exit-amid-writes.js";
import type { NewestTransaction } from "./newest-transaction.js";

/** A piece of work that waits for its transaction. */
interface Waiting {
  /** Never throws. It may be called again, if its first transaction failed with others. */
  readonly work: () => "keep" | "abort";
  readonly done: (failed: XdskitError | undefined) => void;
}

/**
 * Transactions whose writers are told only once they are on the disk.
 *
 * LMDB's package writes transactions that arrive together in one go. The next ones wait here until those are safe:
 * `flushed` is about the newest ones, and is never answered if a newer one fails, as it does on a full disk.
 */
export class DurableWrites {
  readonly #root: RootDatabase;
  readonly #file: string;
  readonly #newest: NewestTransaction;
  #waiting: Waiting[] = [];
  #underWay: Promise<void> | undefined;
  /** The newest transaction failed. LMDB's package would wait for it forever on close. */
  #isFailed = false;

  /** `file`: for errors. */
  constructor(root: RootDatabase, file: string, newest: NewestTransaction) {
    this.#root = root;
    this.#file = file;
    this.#newest = newest;
  }

  /**
   * Resolves once the work's changes are on the disk; nothing is written if it says `abort`. Rejects with XDSKIT_STORE
   * and the system's reason if they cannot be written, such as on a full disk.
   */
  async run(work: Waiting["work"]): Promise<void> {
    const failed = await new Promise<XdskitError | undefined>((done) => {
      this.#waiting.push({ work, done });
      this.#underWay ??= this.#writeAll();
    });
    if (failed !== undefined) throw failed;
  }

  async close(): Promise<void> {
    await this.#underWay;
    // A transaction without changes needs no room.
    if (this.#isFailed) await this.#write([{ work: () => "keep" }]);
    await this.#root.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      const together = this.#waiting;
      this.#waiting = [];
      const failed = await this.#write(together);
      if (failed === undefined || together.length === 1) for (const { done } of together) done(failed);
      // Alone, a small one may still fit on the disk.
      else for (const one of together) one.done(await this.#write([one]));
    }
    this.#underWay = undefined;
  }

  async #write(works: readonly Pick<Waiting, "work">[]): Promise<XdskitError | undefined> {
    const failed = await this.#commit(works).catch(this.#storeErrorOf);
    this.#isFailed = failed !== undefined;
    return failed;
  }

  async #commit(works: readonly Pick<Waiting, "work">[]): Promise<undefined> {
    await killedAtExit(() => this.#newest.onNewest(() => this.#commitOnNewest(works)));
  }

  /** Undefined: it would have begun from an older transaction than the newest one, and nothing was written. */
  async #commitOnNewest(works: readonly Pick<Waiting, "work">[]): Promise<true | undefined> {
    let isOnNewest = true;
    // Called in one turn, they become one transaction.
    const written = works.map(({ work }) =>
      this.#root.childTransaction(() => {
        isOnNewest &&= this.#newest.isBase(this.#root.getWriteTxnId());
        return !isOnNewest || work() === "abort" ? ABORT : undefined;
      }),
    );
    // For the transaction as a whole LMDB's package makes a promise, in its own turn right before this one. Nobody else
    // has it, and if it is rejected without a handler the process ends.
    setImmediate(() => void this.#root.committed.then(noop, noop));
    const failed = (await Promise.allSettled(written)).find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    await this.#root.flushed;
    return isOnNewest || undefined;
  }

  readonly #storeErrorOf = async (cause: CommitError): Promise<XdskitError> =>
    cause instanceof XdskitError
      ? cause
      : unwritten((await cause.commitError?.catch((error: Error) => error)) ?? cause, this.#file);
}

const noop = () => {};

/** The error of LMDB's package. */
interface CommitError extends Error {
  /** Rejects with the system's reason. */
  readonly commitError?: Promise<never>;
}

/** The system's error for which changes could not be written; undefined: it is another error. */
export function systemError(error: unknown): Error | undefined {
  const cause = error instanceof XdskitError ? error.cause : error;
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  // LMDB's own errors have negative numbers.
  return typeof code === "number" && code > 0 ? (cause as Error) : undefined;
}

/** The error of changes that cannot be written, with the system's reason. */
export function unwritten(cause: Error, file: string): XdskitError {
  // The rest is about pages. LMDB calls it an I/O error if a part of a page still fits on the disk.
  const reason = cause.message
    .replace(/: Attempting .*/s, "")
    .replace(/^Input\/output error$/, "$& (is the disk full?)");
  return XdskitError.of("XDSKIT_STORE", `the store cannot be written: ${reason}`, { file }, { cause });
}
