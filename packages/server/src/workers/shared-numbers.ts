/** Numbers that all threads of a server read and write: who counts alone would count a part. */
export interface SharedNumbers {
  readonly buffer: SharedArrayBuffer;
  /** The next id of a stream or a call, counted from 1 over all threads. */
  nextId(): number;
  /** How many streams, or calls, a thread has open; 0 is the main thread. */
  setOpen(thread: number, count: number): void;
  /** Of all threads together. */
  open(): number;
  setConnections(thread: number, count: number): void;
  connections(thread: number): number;
}

/** More workers than this are refused. */
export const mostWorkers = 64;

const ids = 0;
const openAt = 1;
const connectionsAt = openAt + mostWorkers + 1;

/** Makes the numbers, or, over the `buffer` of another thread, shares them. */
export function createSharedNumbers(
  buffer = new SharedArrayBuffer((connectionsAt + mostWorkers + 1) * Int32Array.BYTES_PER_ELEMENT),
): SharedNumbers {
  const numbers = new Int32Array(buffer);
  return {
    buffer,
    nextId: () => Atomics.add(numbers, ids, 1) + 1,
    setOpen: (thread, count) => void Atomics.store(numbers, openAt + thread, count),
    open() {
      let sum = 0;
      for (let thread = 0; thread <= mostWorkers; thread += 1) sum += Atomics.load(numbers, openAt + thread);
      return sum;
    },
    setConnections: (thread, count) => void Atomics.store(numbers, connectionsAt + thread, count),
    connections: (thread) => Atomics.load(numbers, connectionsAt + thread),
  };
}
