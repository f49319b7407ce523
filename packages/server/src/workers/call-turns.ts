/**
 * What unary calls of the clients of one worker may cost the main thread, which answers them, and the worker, which
 * keeps the answers until they are read.
 */
export interface CallLimits {
  /** Calls that the main thread has at once; the others wait in the worker. */
  readonly underWay: number;
  /** Calls that wait, of one connection a quarter of that; further ones are refused. */
  readonly waiting: number;
  /** Bytes of their requests. */
  readonly waitingBytes: number;
  /** Bytes of answers that are not read yet: no call begins while there are more. */
  readonly unreadBytes: number;
}

/**
 * The limits of each worker, of so many: what the main thread has at once, and what answers may take, is bounded over
 * all of them.
 */
export function callLimitsOf(workers: number): CallLimits {
  return {
    underWay: Math.max(4, Math.floor(32 / workers)),
    waiting: 4_000,
    waitingBytes: Math.floor((64 * 1024 * 1024) / workers),
    unreadBytes: Math.floor((256 * 1024 * 1024) / workers),
  };
}

/**
 * What one connection may take of `waiting`, and of `unreadBytes`: who asks too much, or reads nothing, must not keep
 * the others waiting.
 */
const shares = { waiting: 1 / 4, unreadBytes: 1 / 8 } as const;

/** A call that waits, is with the main thread, or is answered and not read. */
export interface CallTurn {
  /**
   * The main thread answered with so many bytes. To be called for each call that began, also for one that was given up.
   */
  answered(bytes: number): void;
  /** The client has read the answer, or is gone. */
  closed(): void;
}

/** Says when each unary call goes to the main thread: one of each connection in turn, as long as there is room. */
export interface CallTurns {
  /** `begin` is called when it is the call's turn, perhaps at once. Undefined: too many wait already. */
  enter(connection: string, bytes: number, begin: () => void): CallTurn | undefined;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** What the calls of all, or of one connection, take. */
interface Taken {
  underWay: number;
  unreadBytes: number;
}

interface Caller extends Taken {
  readonly waiting: Set<Waiting>;
  /** Its calls in any state. */
  calls: number;
}

/** Makes the turns of one worker. */
export function createCallTurns(limits: CallLimits): CallTurns {
  const callers = new Map<string, Caller>();
  /** Those that have calls waiting; the next is first. */
  const queue = new Set<Caller>();
  const all: Taken = { underWay: 0, unreadBytes: 0 };
  let waiting = 0;
  let waitingBytes = 0;
  /** Of the last answer: those of the calls under way are expected to be as large. */
  let usualBytes = 0;

  /** However large answers are, one call may always begin. */
  function hasRoom({ underWay, unreadBytes }: Taken, most: number): boolean {
    return unreadBytes + underWay === 0 || unreadBytes + (underWay + 1) * usualBytes <= most;
  }

  function beginNext(): void {
    for (const caller of queue) {
      if (all.underWay >= limits.underWay || !hasRoom(all, limits.unreadBytes)) return;
      if (!hasRoom(caller, limits.unreadBytes * shares.unreadBytes)) continue;
      const [next] = caller.waiting;
      queue.delete(caller);
      if (next === undefined) continue;
      stopWaiting(caller, next);
      // Behind the others, where this loop comes to it again.
      if (caller.waiting.size > 0) queue.add(caller);
      caller.underWay += 1;
      all.underWay += 1;
      next.begin();
    }
  }

  function stopWaiting(caller: Caller, call: Waiting): boolean {
    if (!caller.waiting.delete(call)) return false;
    waiting -= 1;
    waitingBytes -= call.bytes;
    if (caller.waiting.size === 0) queue.delete(caller);
    return true;
  }

  function callerOf(connection: string): Caller {
    const known = callers.get(connection);
    if (known !== undefined) return known;
    const caller: Caller = { waiting: new Set(), calls: 0, underWay: 0, unreadBytes: 0 };
    callers.set(connection, caller);
    return caller;
  }

  function isFull(connection: string, bytes: number): boolean {
    const own = callers.get(connection)?.waiting.size ?? 0;
    if (waiting >= limits.waiting || own >= limits.waiting * shares.waiting) return true;
    return waiting > 0 && waitingBytes + bytes > limits.waitingBytes;
  }

  return {
    enter(connection, bytes, begin) {
      if (isFull(connection, bytes)) return undefined;
      const caller = callerOf(connection);
      const call: Waiting = { bytes, begin };
      let unread = 0;
      let isClosed = false;
      let isAnswered = false;
      caller.calls += 1;
      caller.waiting.add(call);
      queue.add(caller);
      waiting += 1;
      waitingBytes += bytes;
      function holds(difference: number): void {
        unread += difference;
        caller.unreadBytes += difference;
        all.unreadBytes += difference;
      }
      function over(): void {
        holds(-unread);
        caller.calls -= 1;
        if (caller.calls === 0) callers.delete(connection);
      }
      beginNext();
      return {
        answered(answer) {
          if (isAnswered) return;
          isAnswered = true;
          caller.underWay -= 1;
          all.underWay -= 1;
          if (answer > 0) usualBytes = answer;
          if (isClosed) over();
          else holds(answer);
          beginNext();
        },
        closed() {
          if (isClosed) return;
          isClosed = true;
          // Of one that is given up the main thread has yet to hear: until it answers, the place is taken.
          if (stopWaiting(caller, call) || isAnswered) over();
          beginNext();
        },
      };
    },
  };
}
