/** Numbers that all threads of a server read and write: who counts alone would count a part. */
export interface SharedNumbers {
  readonly buffer: SharedArrayBuffer;
  /** The next id of a stream or a call, counted from 1 over all threads. */
  nextId(): number;
  /** How many streams, or calls, a thread has open; 0 is the main thread. */
  setOpen(thread: number, count: number): void;
  /** Of all threads together. */
  open(): number;
  /** How many connections a worker has; undefined: it takes none any more. */
  setConnections(worker: number, count: number | undefined): void;
  /** A worker is not held up: to be said once a second at least. */
  comesAround(worker: number): void;
  /** The connections of each other worker that takes connections, and came around lately. */
  connectionsBeside(worker: number): readonly number[];
}

/** More workers than this are refused. */
export const mostWorkers = 64;

const ids = 0;
const openAt = 1;
/** One more than there are, so that 0 is who takes none. */
const connectionsAt = openAt + mostWorkers + 1;
/** When a worker came around, in seconds. */
const seenAt = connectionsAt + mostWorkers + 1;
const heldUpSeconds = 3;

/** Makes the numbers, or, over the `buffer` of another thread, shares them. */
export function createSharedNumbers(
  buffer = new SharedArrayBuffer((seenAt + mostWorkers + 1) * Int32Array.BYTES_PER_ELEMENT),
): SharedNumbers {
  const numbers = new Int32Array(buffer);
  const seconds = () => Math.floor(Date.now() / 1000) | 0;
  const comesAround = (worker: number) => void Atomics.store(numbers, seenAt + worker, seconds());
  return {
    buffer,
    nextId: () => Atomics.add(numbers, ids, 1) + 1,
    setOpen: (thread, count) => void Atomics.store(numbers, openAt + thread, count),
    open() {
      let sum = 0;
      for (let thread = 0; thread <= mostWorkers; thread += 1) sum += Atomics.load(numbers, openAt + thread);
      return sum;
    },
    setConnections(worker, count) {
      Atomics.store(numbers, connectionsAt + worker, count === undefined ? 0 : count + 1);
      comesAround(worker);
    },
    comesAround,
    connectionsBeside(worker) {
      const found: number[] = [];
      const now = seconds();
      for (let other = 1; other <= mostWorkers; other += 1) {
        const count = Atomics.load(numbers, connectionsAt + other);
        if (other === worker || count === 0) continue;
        if (((now - Atomics.load(numbers, seenAt + other)) | 0) <= heldUpSeconds) found.push(count - 1);
      }
      return found;
    },
  };
}
