import { closeSync, openSync } from "node:fs";
import { XdskitError } from "@xdskit/api";
import { openElsewhere } from "./check-file.js";
import { readMetaPage } from "./meta-pages.js";

/** How often something is tried while other processes open the file, or commit, at that moment. */
const mostTries = 50;

/**
 * Holds against LMDB that no transaction is written over.
 *
 * A writer begins from the transaction whose number stands in memory that all processes share. A process that opens
 * the file reads the file's head, and then writes the number that it read there into that memory (`mdb_env_open2`),
 * without the lock of writers. If others commit in between, the next writer begins from an older state: it would write
 * over transactions that were acknowledged, and use pages that are in use, which can end the process. So a writer looks
 * at the file's head itself before it changes anything: nobody else commits while it has the lock.
 */
export class NewestTransaction {
  readonly #file: string;
  readonly #handle: number;

  /** Throws the system's errors. */
  constructor(file: string) {
    this.#file = file;
    this.#handle = openSync(file, "r");
  }

  /** 0: there was none. */
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
      await this.tell();
    }
    throw XdskitError.of("XDSKIT_STORE", "other processes open it again and again", { file: this.#file });
  }

  /**
   * Tells all processes that have the file open which transaction is the newest. A process that opens it does so, and
   * this one has it open already. Rejects with XDSKIT_STORE if no process can open it.
   */
  async tell(): Promise<void> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const before = this.number();
      await openElsewhere(this.#file);
      if (this.number() === before) return;
    }
  }

  close(): void {
    closeSync(this.#handle);
  }
}
