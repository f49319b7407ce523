import type { ResourceType } from "@xdskit/api";
import { type ClientStream, type ClientStreamEffect, type ResourceUpdate, statusCode } from "@xdskit/protocol";
import { createWaits } from "../../backoff.js";
import { awayError } from "../../client-errors.js";
import { answerLater } from "../answer-later.js";
import type { UpstreamContext, UpstreamSink } from "../upstream.js";
import type { DiscoveryMethod } from "./methods.js";
import { createRepeatPace } from "./repeat-pace.js";
import type { OpenStream, StreamTransport } from "./stream-transport.js";

/** A stream that nobody needs is kept open for so long: programs often ask for the next name when they have left the last. */
const lingerMs = 1_000;
/** How long a server may take to end a stream that the client is done with. */
const farewellMs = 1_000;
/** A timer that comes later than this says that the process was busy with other things: what came meanwhile lies unread. */
const lateMs = 100;
/** gRPC's CANCELLED. */
const cancelled = 1;

/** A machine and its stream, which is opened while anybody wants anything, again and again (A57), and never twice at once. */
export interface DiscoveryStream {
  readonly machine: ClientStream;
  /** Something of the machine was changed from outside, by `subscribe` and the like: there may be something to send, or nothing to do any more. */
  touched(effects: readonly ClientStreamEffect[]): void;
  close(): Promise<void>;
}

export interface DiscoveryStreamOptions {
  readonly server: string;
  readonly machine: ClientStream;
  readonly method: DiscoveryMethod;
  readonly transport: StreamTransport;
  readonly context: Pick<UpstreamContext, "clock" | "random" | "backoff">;
  readonly sink: UpstreamSink;
}

type Phase =
  /** Nobody wants anything. */
  | "idle"
  /** Until it is time for another attempt. */
  | "waiting"
  | "connecting"
  | "open"
  /** The client is done with it; the server is to end it. */
  | "ending";

export function createDiscoveryStream(options: DiscoveryStreamOptions): DiscoveryStream {
  const { server, machine, method, transport, context, sink } = options;
  const { clock } = context;
  const { only } = method;
  const waits = createWaits(context.backoff, context.random);
  const pace = createRepeatPace(method.variant);
  let phase: Phase = "idle";
  let stream: OpenStream | undefined;
  /** Stops the one timer of the phase: the wait, the linger, the farewell. */
  let stopTimer = () => {};
  let stopDeadline = () => {};
  let deadline: number | undefined;
  /** No attempt begins before. */
  let notBefore = Number.NEGATIVE_INFINITY;
  let startedAt = 0;
  let answered = false;
  /** What is held is being brought up to date: nothing is begun meanwhile. */
  let preparing = false;
  let writing = false;
  let pumping = false;
  /** Updates that watchers are busy with, and whether a response is asked for already. */
  let held = 0;
  let reading = false;
  /** When it was asked for. */
  let readAt = 0;
  /** Ends the wait of the pace; undefined where the next response may be read. */
  let stopPace: (() => void) | undefined;
  let closing: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  function timer(milliseconds: number, call: () => void): void {
    stopTimer();
    stopTimer = clock.after(milliseconds, call);
  }

  /** Begins what is to be done next, if anything. */
  function look(): void {
    if (closing !== undefined || preparing) return;
    if (phase === "open" && machine.isIdle) timer(lingerMs, () => machine.isIdle && finish());
    else if (phase === "open") stopTimer();
    else if ((phase === "waiting" || phase === "connecting") && machine.isIdle) giveUp();
    else if (phase === "idle" && !machine.isIdle) {
      const wait = notBefore - clock.now();
      if (wait > 0) {
        phase = "waiting";
        timer(wait, attempt);
      } else {
        attempt();
      }
    }
  }

  function giveUp(): void {
    stopTimer();
    const given = stream;
    stream = undefined;
    phase = "idle";
    given?.cancel(cancelled, "not needed any more");
  }

  function attempt(): void {
    phase = "connecting";
    startedAt = clock.now();
    answered = false;
    preparing = true;
    sink.attempting();
    preparing = false;
    if (machine.isIdle || closing !== undefined) {
      phase = "idle";
      return;
    }
    notBefore = startedAt + waits.next();
    const opened: OpenStream = transport.open(method, {
      opened() {
        if (stream !== opened) return;
        phase = "open";
        writing = false;
        reading = false;
        const effects = machine.step({ kind: "opened" }, clock.now());
        sink.connected(only);
        handle(effects);
        pump();
        read();
        look();
      },
      received(bytes) {
        if (stream !== opened) return;
        reading = false;
        if (phase !== "ending") received(bytes);
        read();
      },
      ended(code, message) {
        if (stream === opened) ended(code, message);
      },
    });
    stream = opened;
  }

  function received(bytes: Uint8Array): void {
    const effects = machine.step({ kind: "response", bytes }, clock.now());
    const wait = pace.after(effects, clock.now() - readAt);
    if (wait > 0) {
      stopPace = clock.after(wait, () => {
        stopPace = undefined;
        read();
      });
    }
    handle(effects);
    pump();
  }

  function endPace(): void {
    stopPace?.();
    stopPace = undefined;
  }

  function ended(code: number, message: string): void {
    stream = undefined;
    stopTimer();
    const before = phase;
    phase = "idle";
    if (before === "open") left(code, message);
    else if (before === "connecting") failed(code, message);
    if (closing !== undefined) closing.resolve();
    else look();
  }

  /** The stream is gone, or as good as gone. */
  function left(code: number, message: string): void {
    endPace();
    handle(machine.step({ kind: "closed" }, clock.now()));
    sink.disconnected(only, code === statusCode.ok ? undefined : { code, message });
    // A57: the end of a stream that was answered is no failure, and the wait after it is the first again.
    if (answered) {
      waits.reset();
      notBefore = startedAt + waits.next();
    } else {
      failed(code, message);
    }
  }

  function failed(code: number, message: string): void {
    const why = code === statusCode.ok ? "it ended the stream without an answer" : `${message} (code ${code})`;
    sink.failed(only, awayError(server, why, { cause: { code, message } }), false);
  }

  /** Ends the stream in good order: nobody needs it. */
  function finish(): void {
    phase = "ending";
    endPace();
    handle(machine.step({ kind: "closed" }, clock.now()));
    sink.disconnected(only, undefined);
    waits.reset();
    const last = stream;
    last?.finish();
    // What was on its way is read, or the end would never come.
    read();
    timer(farewellMs, () => last?.cancel(cancelled, "not needed any more"));
  }

  function handle(effects: readonly ClientStreamEffect[]): void {
    let unanswered: number | undefined;
    let update: ResourceUpdate | undefined;
    let type: ResourceType | undefined;
    for (const effect of effects) {
      switch (effect.kind) {
        case "received":
          answered = true;
          type = effect.type;
          if (effect.awaitsAnswer) unanswered = effect.response;
          sink.responded(effect.type, effect.good);
          break;
        case "update":
          update = effect.update;
          hold(sink.update(effect.update));
          break;
        case "rejected":
          sink.rejected(effect.type, effect.version, effect.message, effect.bad);
          break;
        case "close":
          abort(effect.code, effect.message);
          break;
      }
    }
    if (unanswered !== undefined && type !== undefined) {
      const response = unanswered;
      answerLater(sink, type, update, (error) => {
        handle(machine.step({ kind: "answer", response, error }, clock.now()));
        pump();
      });
    }
    arm();
  }

  /** What came breaks the protocol: that is no answer. */
  function abort(code: number, message: string): void {
    const broken = stream;
    stream = undefined;
    answered = false;
    if (phase !== "open") return;
    phase = "idle";
    broken?.cancel(code, message);
    left(code, message);
    look();
  }

  /** Reads on once watchers are done with what they were given. */
  function hold(taken: void | Promise<void>): void {
    if (taken === undefined) return;
    held += 1;
    void taken.then(() => {
      held -= 1;
      read();
    });
  }

  function read(): void {
    if (stream === undefined || reading || (phase !== "open" && phase !== "ending")) return;
    if ((held > 0 || stopPace !== undefined) && phase === "open") return;
    reading = true;
    readAt = clock.now();
    stream.read();
  }

  function pump(): void {
    while (phase === "open" && stream !== undefined && !writing) {
      const request = machine.next();
      if (request === undefined) return;
      const on = stream;
      writing = true;
      on.send(request.bytes, () => {
        if (stream !== on) return;
        writing = false;
        pump();
      });
    }
  }

  function pumpSoon(): void {
    if (pumping) return;
    pumping = true;
    queueMicrotask(() => {
      pumping = false;
      pump();
    });
  }

  /** Sees to it that time goes by in the machine. */
  function arm(): void {
    const next = machine.deadline();
    if (next === deadline) return;
    deadline = next;
    stopDeadline();
    stopDeadline = () => {};
    if (next === undefined) return;
    stopDeadline = clock.after(Math.max(0, next - clock.now()), () => {
      deadline = undefined;
      if (closing !== undefined) return;
      const now = clock.now();
      const isOpen = phase === "open";
      // What lies unread of a server that repeats itself is most likely the same again, and there at all times.
      const unread = isOpen && (held > 0 || now - next > lateMs);
      handle(machine.step({ kind: "time", unread, unsent: isOpen && writing }, now));
      pump();
    });
  }

  return {
    machine,
    touched(effects) {
      handle(effects);
      look();
      pumpSoon();
    },
    close() {
      if (closing !== undefined) return closing.promise;
      let resolve = () => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      closing = { promise, resolve };
      stopDeadline();
      const last = stream;
      if (phase === "open") finish();
      else if (phase !== "ending") {
        giveUp();
        resolve();
      }
      if (last === undefined) resolve();
      return promise;
    },
  };
}
