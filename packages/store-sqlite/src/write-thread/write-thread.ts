import { setImmediate as nextTurn } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import {
  answerOf,
  type CommitInfo,
  type CommitResult,
  type LayerCommit,
  type OtherThread,
  partSize,
  type Retention,
  startThread,
} from "@xdskit/server/tables";
import type { CommitPart, WriteAnswer, WriteRequest, WriteStart } from "./write-messages.js";

/**
 * Writes in a separate thread, which starts when it is needed and ends with the work: large commits are rare, and their
 * transactions must not hold up streams. A small commit takes less time than starting a thread.
 *
 * Rejects with XDSKIT_STORE if nothing can be written, such as on a full disk: the other thread need not try.
 */
export class WriteThread implements OtherThread {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async commit(
    layers: readonly LayerCommit[],
    info: CommitInfo,
    ahead: string | undefined,
  ): Promise<CommitResult | undefined> {
    return (await this.#run(partsOf(layers), { kind: "commit", info, ahead })) as CommitResult | undefined;
  }

  async retain(retention: Retention): Promise<number | undefined> {
    return (await this.#run([], { kind: "retain", retention })) as number | undefined;
  }

  async #run(parts: Iterable<CommitPart>, last: WriteRequest): Promise<WriteAnswer["result"]> {
    const { result, unwritten: reason } = await this.#ask(parts, last);
    if (reason !== undefined) throw XdskitError.of("XDSKIT_STORE", reason, { file: this.#file });
    return result;
  }

  async #ask(parts: Iterable<CommitPart>, last: WriteRequest): Promise<WriteAnswer> {
    const start: WriteStart = { file: this.#file };
    const worker = startThread(import.meta.url, "write-main", "xdskit-write-state", start);
    try {
      const outcome = answerOf<WriteAnswer>(worker, "the thread that writes ended");
      outcome.catch(() => {});
      for (const part of parts) {
        worker.postMessage({ kind: "part", part } satisfies WriteRequest);
        await nextTurn();
      }
      worker.postMessage(last);
      return await outcome;
    } catch {
      // One that ends without an answer was short of memory, or could not be loaded.
      return { result: undefined, unwritten: undefined };
    } finally {
      await worker.terminate();
    }
  }
}

function* partsOf(layers: readonly LayerCommit[]): Iterable<CommitPart> {
  for (const [at, { layer, parent, kind, always, cause, upsert, remove = [] }] of layers.entries()) {
    const most = Math.max(upsert.length, remove.length, 1);
    for (let from = 0; from < most; from += partSize) {
      const to = from + partSize;
      yield {
        at,
        layer,
        parent,
        kind,
        always,
        cause,
        upsert: upsert.slice(from, to).map(({ type, key, version }) => ({ type, key, version })),
        remove: remove.slice(from, to).map(({ type, key }) => ({ type, key })),
      };
    }
  }
}
