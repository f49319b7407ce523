import type { WorkerCounters } from "./messages.js";

/** What workers counted, in sum: of those that are gone what they had counted when they were asked last. */
export interface SummedCounters {
  /** What a worker has counted by now. */
  note(worker: number, counters: WorkerCounters): void;
  /** A worker ended: what is of now goes, what only grows stays. */
  end(worker: number): void;
  plus(own: WorkerCounters): WorkerCounters;
}

/** What the counters of one thread say of its streams; they count on, and are read when this is called. */
export function countersOf({ streams, types, fetches, refused, waitsEnded }: WorkerCounters): WorkerCounters {
  return { streams, types, fetches, refused, waitsEnded };
}

/** Sums up nothing yet. */
export function createSummedCounters(): SummedCounters {
  const last = new Map<number, WorkerCounters>();
  let ended: WorkerCounters = { streams: [], types: [], fetches: [], refused: [], waitsEnded: 0 };
  return {
    note: (worker, counters) => void last.set(worker, counters),
    end(worker) {
      const counters = last.get(worker);
      if (counters === undefined) return;
      last.delete(worker);
      const streams = counters.streams.map((row) => ({ ...row, open: 0, behind: 0 }));
      ended = sum(ended, { ...counters, streams });
    },
    plus: (own) => [...last.values(), ended].reduce(sum, own),
  };
}

function sum(a: WorkerCounters, b: WorkerCounters): WorkerCounters {
  return {
    streams: rows([a.streams, b.streams], ({ api, variant, service }) => `${api} ${variant} ${service}`),
    types: rows([a.types, b.types], ({ typeUrl, variant }) => `${variant} ${typeUrl}`),
    fetches: rows([a.fetches, b.fetches], ({ api, typeUrl }) => `${api} ${typeUrl}`),
    refused: byCode([...a.refused, ...b.refused]),
    waitsEnded: a.waitsEnded + b.waitsEnded,
  };
}

/** Adds up what is a number, of rows with the same key. */
function rows<Row extends object>(lists: readonly (readonly Row[])[], keyOf: (row: Row) => string): readonly Row[] {
  const summed = new Map<string, Row>();
  for (const row of lists.flat()) {
    const key = keyOf(row);
    const known = summed.get(key);
    summed.set(key, known === undefined ? row : added(known, row));
  }
  return [...summed.values()];
}

function added<Row extends object>(a: Row, b: Row): Row {
  const of = b as Record<string, unknown>;
  const add = ([key, value]: [string, unknown]) => [key, typeof value === "number" ? value + Number(of[key]) : value];
  return Object.fromEntries(Object.entries(a).map(add)) as Row;
}

function byCode(counts: WorkerCounters["refused"]): WorkerCounters["refused"] {
  const summed = new Map<number, number>();
  for (const { code, count } of counts) summed.set(code, (summed.get(code) ?? 0) + count);
  return Array.from(summed, ([code, count]) => ({ code, count }));
}
