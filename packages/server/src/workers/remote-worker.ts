import type { ServerEvent } from "../contracts/events.js";
import type { Accept, Service } from "../contracts/transport.js";
import type { EventLoopStats } from "../event-loop/event-loop-stats.js";
import type { GivenSocket } from "./listening-socket.js";
import {
  type Answer,
  type FromWorker,
  type PackedChange,
  standings,
  type ToWorker,
  type WorkerCounters,
  type WorkerSettings,
} from "./messages.js";
import type { Packing } from "./packed-resources.js";
import { unpackValue } from "./packed-values.js";
import { createRemoteCalls } from "./remote-calls.js";
import { type RemoteContext, RemoteStream } from "./remote-stream.js";
import { createStreamViews } from "./stream-views.js";
import { startWorker } from "./worker-thread.js";

/** What a worker needs of the server that it belongs to. */
export interface WorkerHost extends Pick<RemoteContext, "types" | "clock" | "publication" | "arrivals" | "unpacking"> {
  readonly packing: Packing;
  readonly accept: Accept;
  readonly services: readonly Service[];
  readonly streams: Set<RemoteStream>;
  /** Something is to be posted by the end of the turn. */
  wake(): void;
  touched(stream: RemoteStream): void;
  isPublishing(): boolean;
  isWatched(): boolean;
  /** Calls that are answered here began or ended. */
  callsChanged(): void;
  /** Posts all that is to be posted. */
  settle(): void;
  emit(event: ServerEvent): void;
}

/** A worker that runs, and its streams as the main thread knows them. */
export interface RemoteWorker {
  readonly number: number;
  readonly streams: number;
  /** Resolves once it accepts connections on a socket; rejects with what kept it from that. */
  listen(address: string, socket: GivenSocket): Promise<void>;
  post(message: ToWorker): void;
  flush(): void;
  /** Something is published: what it said of its streams is to be asked for again. */
  outdate(): void;
  /** As of now, or what it said last where it is too busy or at its end; undefined where it never did. */
  counters(until: number): WorkerCounters | undefined;
  /** To be called for all workers before their counters are waited for: together they are given as long as one. */
  prompt(): void;
  /** As it was told with the last counters. */
  readonly eventLoop: EventLoopStats | undefined;
  /** Ends its streams; resolves when it has ended, at the latest after so many milliseconds. */
  close(timeoutMs: number): Promise<void>;
  terminate(): Promise<unknown>;
}

/** How many streams are asked for at once. */
const askedAtOnce = 256;

/** `ended` is called once with why, unless it was closed. */
export function createRemoteWorker(
  host: WorkerHost,
  settings: WorkerSettings,
  state: { readonly changes: readonly PackedChange[]; readonly isOpen: boolean; readonly tell: ToWorker },
  ended: (reason: string) => void,
): RemoteWorker {
  const streams = new Map<number, RemoteStream>();
  let timeOrigin = performance.timeOrigin;
  let closing = false;
  let gone = false;
  /** What it says is carried out in its order: who looks at the streams meanwhile sees them as of then. */
  let isHearing = false;
  let lastWord = (): void => {};
  const drained = new Promise<void>((resolve) => {
    lastWord = resolve;
  });
  let listening: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  /** Streams that are probably looked at next. */
  let expected: readonly RemoteStream[] = [];
  let remembered: RemoteStream[] = [];
  let forgetting: NodeJS.Immediate | undefined;
  /** Since when each stream is not settled, as it was said last, and whether that was this turn. */
  let unsettled: ReadonlyMap<number, number> | undefined;
  let isCurrent = false;
  /** Streams of which somebody wanted to know while the worker was too busy to say. */
  let unanswered = new Set<RemoteStream>();
  let counted: Extract<Answer, { readonly kind: "counters" }> | undefined;
  const thread = startWorker(settings, {
    received,
    answered(answer, wasBehind) {
      if (answer.kind === "counters") counted = answer;
      // Not now: somebody may be about to ask.
      if (wasBehind) setImmediate(lookAgain);
    },
    ended(reason) {
      gone = true;
      for (const stream of streams.values()) leave(stream, reason);
      calls.close();
      host.callsChanged();
      listening?.reject(new Error(reason));
      lastWord();
      if (!closing) ended(reason);
    },
  });
  function post(message: ToWorker): void {
    thread.post(message);
    host.wake();
  }
  const calls = createRemoteCalls(host.types, host.accept, host.services, post);
  const context: RemoteContext = {
    types: host.types,
    clock: host.clock,
    publication: host.publication,
    arrivals: host.arrivals,
    unpacking: host.unpacking,
    views: createStreamViews(host.packing, post),
    post,
    touched: host.touched,
    isPublishing: host.isPublishing,
    isWatched: host.isWatched,
    toOwn: (at) => at + timeOrigin - performance.timeOrigin,
    seq: () => thread.seq,
    askStatus,
    unsettledSince({ id }) {
      if (!isCurrent) askStandings();
      return unsettled?.get(id);
    },
  };
  post(state.tell);
  if (state.changes.length > 0) post({ kind: "layers", changes: state.changes });
  if (state.isOpen) post({ kind: "open" });

  /**
   * A question takes along what was to be posted: while something is published, that is a change without what says
   * which streams are to have it.
   */
  const canAsk = () => !host.isPublishing() && !thread.isBehind();

  function askStatus(first: RemoteStream): void {
    if (!canAsk()) {
      if (unanswered.size === 0 && host.isPublishing()) setImmediate(lookAgain);
      unanswered.add(first);
      return;
    }
    host.settle();
    const asked = new Set([first]);
    const add = (stream: RemoteStream) => {
      if (asked.size < askedAtOnce && !stream.hasStatus && stream.opened !== undefined) asked.add(stream);
    };
    for (const stream of expected) add(stream);
    let isBehind = false;
    for (const stream of streams.values()) {
      if (asked.size >= askedAtOnce) break;
      if (isBehind) add(stream);
      isBehind ||= stream === first;
    }
    const list = [...asked];
    const answer = thread.ask({ kind: "status", streams: list.map(({ id }) => id) });
    if (answer?.kind !== "status") {
      unanswered.add(first);
      return;
    }
    rememberForNow();
    list.forEach((stream, index) => {
      stream.take(answer.status[index]);
      remembered.push(stream);
    });
  }

  /** Of all streams at once: what it said last holds until it answers, or until something is published. */
  function askStandings(): void {
    if (!canAsk()) return;
    host.settle();
    const answer = thread.ask({ kind: "standings" });
    if (answer?.kind !== "standings") return;
    const { standings } = answer;
    const found = new Map<number, number>();
    for (let at = 0; at < standings.length; at += 2) found.set(standings[at] as number, standings[at + 1] as number);
    unsettled = found;
    isCurrent = true;
    rememberForNow();
  }

  /** Whoever got no answer waits for these streams as if they had not come further. */
  function lookAgain(): void {
    const streams = unanswered;
    unanswered = new Set();
    for (const stream of streams) if (stream.opened !== undefined) host.arrivals.progressed(stream);
  }

  /** What was asked for holds for a turn: what clients say changes it, and is not always told. */
  function rememberForNow(): void {
    forgetting ??= setImmediate(forget);
  }
  function forget(): void {
    clearImmediate(forgetting);
    forgetting = undefined;
    isCurrent = false;
    for (const stream of remembered) stream.forget();
    remembered = [];
  }

  function leave(stream: RemoteStream, reason?: string): void {
    const { opened } = stream;
    if (opened !== undefined && reason !== undefined) {
      host.emit({
        kind: "stream-closed",
        stream: opened,
        code: undefined,
        message: `its worker ended: ${firstLine(reason)}`,
      });
    }
    stream.leave();
    unanswered.delete(stream);
    streams.delete(stream.id);
    host.streams.delete(stream);
  }

  function received(messages: readonly FromWorker[]): void {
    isHearing = true;
    for (const message of messages) if (!gone) carryOut(message);
    isHearing = false;
  }

  function carryOut(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        timeOrigin = message.timeOrigin;
        break;
      case "listening":
        listening?.resolve();
        thread.watch();
        break;
      case "listen-failed":
        listening?.reject(Object.assign(new Error(message.message), { code: message.code }));
        break;
      case "opened": {
        const info = unpackValue(message.info, host.types) as ConstructorParameters<typeof RemoteStream>[1];
        const stream = new RemoteStream(context, { ...info, node: message.node }, message.at);
        streams.set(stream.id, stream);
        host.streams.add(stream);
        const refusal = stream.join();
        if (refusal !== undefined) stream.refuse(refusal.code, refusal.message);
        break;
      }
      case "over":
        streams.get(message.id)?.end(message.status);
        break;
      case "left": {
        const stream = streams.get(message.id);
        if (stream !== undefined) leave(stream);
        break;
      }
      case "rejected":
        streams.get(message.id)?.rejected(message);
        break;
      case "progress":
        progress(message.progress);
        break;
      case "event":
        host.emit(unpackValue(message.event, host.types) as ServerEvent);
        break;
      case "called":
        calls.opened(message);
        host.callsChanged();
        break;
      case "received":
      case "drained":
      case "finished":
      case "closed":
      case "full":
        calls.part(message);
        if (message.kind === "closed") host.callsChanged();
        break;
      case "ended":
        lastWord();
        break;
      default:
        message satisfies never;
    }
  }

  function progress(row: Float64Array): void {
    isCurrent = false;
    const came: RemoteStream[] = [];
    for (let at = 0; at < row.length; at += 3) {
      const stream = streams.get(row[at] as number);
      if (stream === undefined) continue;
      stream.forget();
      came.push(stream);
    }
    expected = came;
    for (let at = 0; at < row.length; at += 3) {
      const standing = standings[row[at + 2] as number] ?? "pending";
      streams.get(row[at] as number)?.progressed(row[at + 1] as number, standing);
    }
    expected = [];
  }

  return {
    number: settings.worker,
    get streams() {
      return streams.size;
    },
    get eventLoop() {
      return counted?.eventLoop;
    },
    post,
    flush: thread.flush,
    outdate() {
      if (forgetting !== undefined) forget();
      unsettled = undefined;
    },
    async listen(address, { descriptor, given, takeBack }) {
      try {
        await new Promise<void>((resolve, reject) => {
          listening = { resolve, reject };
          post({ kind: "listen", address, descriptor, given });
          if (gone) reject(new Error("the worker has ended"));
        });
      } catch (error) {
        // One that ended before it came to it leaves an open port, at which nobody answers.
        takeBack();
        throw error;
      }
    },
    prompt() {
      if (host.isPublishing()) return;
      host.settle();
      thread.prompt();
    },
    counters(until) {
      if (host.isPublishing()) return counted?.counters;
      const answer = thread.ask({ kind: "counters" }, until);
      if (!isHearing) thread.hear();
      if (answer?.kind === "counters") counted = answer;
      return counted?.counters;
    },
    async close(timeoutMs) {
      closing = true;
      post({ kind: "close", timeoutMs });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs + 250);
      });
      if (!gone) await Promise.race([drained, late]);
      clearTimeout(timer);
      await thread.terminate();
    },
    terminate: () => thread.terminate(),
  };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
