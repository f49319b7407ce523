import { closeSync, openSync } from "node:fs";
import { XdskitError } from "@xdskit/api";
import { openElsewhere } from "./check-file.js";
import { readMetaPage } from "./meta-pages.js";

/** How often something is tried while other processes open the file, or commit, at that moment. */
export const mostTries = 50;
/** The tries, a millisecond after one another, before a process is started that puts it right. */
const patientTries = 20;

/**
 * Holds against LMDB that no transaction is written over, and that no read goes back to an older one.
 *
 * Writers and readers begin from the transaction whose number stands in memory that all processes share. A process that
 * opens the file reads the file's head, and then writes the number that it read there into that memory
 * (`mdb_env_open2`), without the lock of writers. If others commit in between, all begin from an older state. A writer
 * would write over transactions that were acknowledged, and use pages that are in use, which can end the process.
 *
 * So a process that opens the file does so again if the head changed meanwhile. A writer looks at the head itself
 * before it changes anything: nobody else commits while it has the lock.
 */
export class NewestTransaction {
  readonly #file: string;
  readonly #handle: number;

  /** Throws the system's errors. */
  constructor(file: string) {
    this.#file = file;
    this.#handle = openSync(file, "r");
  }

  /** By the file's head. 0: there was none. */
  number(): number {
    return readMetaPage(this.#handle)?.transaction ?? 0;
  }

  /** Whether a write transaction, by its own number, begins from the newest one. */
  isBase(transaction: number): boolean {
    return transaction === this.number() + 1;
  }

  /**
   * Makes a transaction, and again if it returns undefined: then it did not begin from the newest one, and wrote
   * nothing. Rejects with XDSKIT_STORE if other processes open the file all the time, or if none can.
   */
  async onNewest<T>(transaction: () => T | undefined | Promise<T | undefined>): Promise<T> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const result = await transaction();
      if (result !== undefined) return result;
      this.putRight(tries);
    }
    throw XdskitError.of("XDSKIT_STORE", "other processes open it again and again", { file: this.#file });
  }

  /** Waits until `isRight`, as `onNewest` does. Throws XDSKIT_STORE if no process can open the file. */
  waitUntil(isRight: () => boolean): void {
    for (let tries = 1; tries <= mostTries && !isRight(); tries += 1) this.putRight(tries);
  }

  /**
   * Has all processes that have the file open told which transaction is the newest. The one that told them another one
   * does so, mostly within a millisecond, unless it is gone. Then another one must open the file: this one has it open.
   */
  putRight(tries: number): void {
    if (tries > patientTries) openElsewhere(this.#file);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }

  close(): void {
    closeSync(this.#handle);
  }
}
