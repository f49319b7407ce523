/** The shortest stretch that counts as a block, in milliseconds. */
export const blockedMs = 50;

/** A server's work in some time. */
export interface WorkDone {
  readonly streamsOpened: number;
  readonly streamsClosed: number;
  /** Requests of streams, acknowledgements included. */
  readonly requests: number;
  readonly responses: number;
  /** Configurations that were applied. */
  readonly configurations: number;
}

/** A time during which the event loop was blocked: nothing was read, written or answered. */
export interface EventLoopBlock {
  /** When it was noticed. */
  readonly at: Date;
  /** How long it took, in milliseconds. Up to 10 ms of short work right before it may be included. */
  readonly ms: number;
  /** How much of that was garbage collection. */
  readonly gcMs: number;
  /**
   * CPU time of the thread meanwhile, in milliseconds, or of the whole process if this Node does not know a thread's
   * (before 23.9). It is less than `ms` if the machine was busy with something else.
   */
  readonly cpuMs: number;
  /** The server's work meanwhile. */
  readonly work: WorkDone;
}

/** How long the event loop is blocked. All but `lastMinuteMs` is since the start. */
export interface EventLoopStats {
  /** The shortest stretch that counts as a block, in milliseconds. */
  readonly blockedMs: number;
  /** Blocks by their main cause. */
  readonly blocks: { readonly work: number; readonly gc: number };
  /** All of them together, in milliseconds. */
  readonly blockedForMs: number;
  /** The longest stretch, whether it counts as a block or not, in milliseconds. */
  readonly longestMs: number;
  /** The longest of the last one to two minutes. */
  readonly lastMinuteMs: number;
  /** Of all stretches with work in them. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The last blocks, the newest last. */
  readonly recent: readonly EventLoopBlock[];
}
