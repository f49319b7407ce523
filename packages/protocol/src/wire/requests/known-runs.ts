import { maxKnownRuns } from "../../model/basics/limits.js";
import { equalBytes } from "../basics/equal-bytes.js";

/** Reading fewer bytes than this is as fast as looking for them. */
const fewestBytes = 256;

/** Bytes of a request, and the value that was read from them. */
export interface Run<Value> {
  readonly bytes: Uint8Array;
  readonly value: Value;
}

/**
 * Values that were read from runs of repeated fields, by their bytes. A fleet that reconnects sends the same thousand
 * names and versions with every first request, and with state of the world with every acknowledgement. Comparing them
 * costs a hundredth of reading them. They are compared byte by byte, so no client can pass its names off as another's.
 */
export class KnownRuns<Value> {
  /** The latest one is the first. */
  #runs: Run<Value>[] = [];
  #bytes = 0;

  /** The run that begins at `start` and is over before `end`. */
  find(bytes: Uint8Array, start: number, end: number): Run<Value> | undefined {
    if (end - start < fewestBytes) return undefined;
    for (let index = 0; index < this.#runs.length; index++) {
      const run = this.#runs[index] as Run<Value>;
      const { length } = run.bytes;
      if (length > end - start || !equalBytes(run.bytes, 0, bytes, start, length)) continue;
      for (let to = index; to > 0; to--) this.#runs[to] = this.#runs[to - 1] as Run<Value>;
      this.#runs[0] = run;
      return run;
    }
    return undefined;
  }

  /** Remembers a copy of a run, unless it is too small or too large. */
  learn(bytes: Uint8Array, start: number, end: number, value: Value): void {
    if (!isWorth(end - start)) return;
    // Not `slice`: a `Buffer` would share its memory.
    this.keep({ bytes: new Uint8Array(bytes.subarray(start, end)), value });
  }

  /** The same of a copy that is there already, and does not change. */
  keep(run: Run<Value>): void {
    const { length } = run.bytes;
    if (!isWorth(length)) return;
    this.#runs.unshift(run);
    this.#bytes += length;
    while (this.#runs.length > maxKnownRuns.count || this.#bytes > maxKnownRuns.bytes)
      this.#bytes -= this.#runs.pop()?.bytes.length ?? 0;
  }
}

function isWorth(length: number): boolean {
  return length >= fewestBytes && length <= maxKnownRuns.bytes / 4;
}
