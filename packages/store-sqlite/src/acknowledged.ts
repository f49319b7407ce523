import { hash } from "node:crypto";
import { closeSync, constants, open, read, readSync, write, writeSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { promisify } from "node:util";

const [openFile, readAt, writeAt] = [promisify(open), promisify(read), promisify(write)];

/** The file beside the store's. */
const nameEnding = "-acknowledged";

/** What the file says. */
export interface AcknowledgedLine {
  /** The id of the store: there may be another one by now. */
  readonly store: string;
  /** The number of the newest transaction that somebody was told is safe. */
  readonly number: number;
  /** What the file of the store was like when it was whole, with nothing left in its log; `-`: that is not known. */
  readonly seal: string;
}

/**
 * What is known of a store, in a small file of its own. SQLite takes the part of its log (`-wal`) that follows a
 * damaged byte for what a killed process left: without this file nobody would know that transactions are missing.
 *
 * Its line always has the same length, and needs no room on a full disk. If it cannot be written, less damage is found.
 */
export class Acknowledged {
  readonly #file: string;
  /** No `FileHandle`, which ends the process if nobody closes it. */
  #handle: number | undefined;
  #opening: Promise<number> | undefined;

  /** `file`: that of the store. */
  constructor(file: string) {
    this.#file = file;
  }

  static async remove(file: string): Promise<void> {
    await rm(file + nameEnding, { force: true });
  }

  /** Undefined: it is not there, or damaged. */
  async read(): Promise<AcknowledgedLine | undefined> {
    const bytes = Buffer.alloc(maxLength);
    await this.#opened()
      .then((handle) => readAt(handle, bytes, 0, maxLength, 0))
      .catch(() => {});
    return lineIn(bytes);
  }

  /**
   * Notes that a transaction is safe. The disk need not have this line. Nothing of this process comes between the
   * reading and the writing; the caller keeps other processes from that.
   */
  async note(store: string, number: number): Promise<void> {
    const handle = await this.#opened().catch(() => undefined);
    if (handle === undefined) return;
    try {
      const bytes = Buffer.alloc(maxLength);
      readSync(handle, bytes, 0, maxLength, 0);
      const known = lineIn(bytes);
      // Another process may have noted a later one.
      if (known?.store === store && known.number >= number) return;
      const line = bytesOf({ store, number, seal: unsealed });
      writeSync(handle, line, 0, line.length, 0);
    } catch {}
  }

  async write(line: AcknowledgedLine): Promise<void> {
    const bytes = bytesOf(line);
    await this.#opened()
      .then((handle) => writeAt(handle, bytes, 0, bytes.length, 0))
      .catch(() => {});
  }

  /** The file is whole, and nobody writes to it any more. */
  async seal(): Promise<void> {
    const [known, seal] = await Promise.all([this.read(), this.sealNow()]);
    if (known !== undefined && seal !== undefined) await this.write({ ...known, seal });
  }

  /**
   * Differs after each change of the file, and after each start of the machine: a disk may have lost something then.
   * Undefined: the log holds something, or nobody can tell.
   */
  async sealNow(): Promise<string | undefined> {
    try {
      const { size: left } = await stat(`${this.#file}-wal`).catch(() => ({ size: 0 }));
      if (left > 0) return undefined;
      const { ino, size, ctimeNs } = await stat(this.#file, { bigint: true });
      const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
      return sumOf(`${ino} ${size} ${ctimeNs} ${boot}`);
    } catch {
      return undefined;
    }
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  async #opened(): Promise<number> {
    if (this.#handle !== undefined) return this.#handle;
    // Once, also for two who ask at the same time.
    this.#opening ??= openFile(this.#file + nameEnding, constants.O_RDWR | constants.O_CREAT, 0o600).finally(() => {
      this.#opening = undefined;
    });
    this.#handle = await this.#opening;
    return this.#handle;
  }
}

function lineIn(bytes: Buffer): AcknowledgedLine | undefined {
  const [, line = "", store = "", number, seal = "", sum] = /^((\S+) (\d+) (\S+)) (\S+)\n/.exec(bytes.toString()) ?? [];
  return sum === sumOf(line) ? { store, number: Number(number), seal } : undefined;
}

function bytesOf({ store, number, seal }: AcknowledgedLine): Buffer {
  const line = `${store} ${`${number}`.padStart(16, "0")} ${seal.padEnd(unsealed.length, "-")}`;
  return Buffer.from(`${line} ${sumOf(line)}\n`);
}

const maxLength = 100;
const unsealed = "-".repeat(12);

function sumOf(line: string): string {
  return hash("sha256", line, "base64url").slice(0, unsealed.length);
}
