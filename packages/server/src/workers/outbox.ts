import { type FromWorker, standings } from "./messages.js";

/** What a worker has to say, posted once a turn. */
export interface Outbox {
  add(message: FromWorker): void;
  /** How a stream stands; a later word takes the place of an earlier one that is not before something else. */
  progress(stream: number, seq: number, standing: (typeof standings)[number]): void;
  /** There may be progress to tell by the end of the turn. */
  wake(): void;
  flush(): void;
}

/** Makes the outbox of a worker; `beforeFlush` may still add to what is about to be posted. */
export function createOutbox(post: (messages: readonly FromWorker[]) => void, beforeFlush: () => void): Outbox {
  let messages: FromWorker[] = [];
  let row: number[] = [];
  let scheduled = false;
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }
  function endRow(): void {
    if (row.length === 0) return;
    messages.push({ kind: "progress", progress: Float64Array.from(row) });
    row = [];
  }
  function flush(): void {
    scheduled = false;
    beforeFlush();
    endRow();
    if (messages.length === 0) return;
    const told = messages;
    messages = [];
    post(told);
  }
  return {
    add(message) {
      endRow();
      messages.push(message);
      schedule();
    },
    progress(stream, seq, standing) {
      row.push(stream, seq, standings.indexOf(standing));
      schedule();
    },
    wake: schedule,
    flush,
  };
}
