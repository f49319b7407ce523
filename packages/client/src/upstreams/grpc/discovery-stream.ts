import type { Clock, ResourceType } from "@xdskit/api";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientTypeStatus,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import { awayError } from "../../errors/client-errors.js";
import { createWaits, type Waits } from "../../timing/backoff.js";
import { answerLater } from "../contract/answer-later.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import type { DiscoveryMethod } from "./methods.js";
import { createRepeatPace, type RepeatPace } from "./repeat-pace.js";
import type { OpenStream, StreamTransport } from "./stream-transport.js";

/** The time for which an unneeded stream stays open: programs often ask for the next name after they left the last. */
const lingerMs = 1_000;
/** The time that a server may take to end a stream that the client finished. */
const farewellMs = 1_000;
/** A server that cleanly ends a stream this old, unanswered, is well if the client said that it is up to date. */
const agreeingMs = 5_000;
/** A timer that is this late shows that the process was busy: responses may lie unread. */
const lateMs = 100;
/** gRPC's CANCELLED. */
const cancelled = 1;

export interface DiscoveryStreamOptions {
  readonly server: string;
  readonly machine: ClientStream;
  readonly method: DiscoveryMethod;
  readonly transport: StreamTransport;
  readonly context: Pick<UpstreamContext, "clock" | "random" | "backoff">;
  readonly sink: UpstreamSink;
}

type Phase =
  /** Nothing is wanted. */
  | "idle"
  /** Waits for the time of the next attempt. */
  | "waiting"
  | "connecting"
  | "open"
  /** The client is done; the server must end the stream. */
  | "ending";

/**
 * A machine and its stream. The stream is opened while names are wanted, again and again (A57), and never twice at
 * once.
 */
export class DiscoveryStream {
  readonly #options: DiscoveryStreamOptions;
  readonly machine: ClientStream;
  readonly #clock: Clock;
  readonly #waits: Waits;
  readonly #pace: RepeatPace;
  #phase: Phase = "idle";
  #stream: OpenStream | undefined;
  /** Stops the one timer of the phase: the wait, the linger, the farewell. */
  #stopTimer: () => void = () => {};
  #stopDeadline: () => void = () => {};
  #deadline: number | undefined;
  /** The earliest time of the next attempt. */
  #notBefore: number = Number.NEGATIVE_INFINITY;
  #startedAt = 0;
  #openedAt = 0;
  #answered = false;
  /** The held resources are being updated: nothing may start meanwhile. */
  #preparing = false;
  #writing = false;
  #pumping = false;
  /** Updates that watchers are still taking, and whether the next response was requested. */
  #held = 0;
  #reading = false;
  /** When the response was requested. */
  #readAt = 0;
  /** Ends the wait of the pace; undefined if the next response may be read. */
  #stopPace: (() => void) | undefined;
  #closing: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  readonly #attempt = (): void => {
    this.#phase = "connecting";
    this.#startedAt = this.#clock.now();
    this.#answered = false;
    this.#preparing = true;
    this.#options.sink.attempting(this.#options.method.only);
    this.#preparing = false;
    if (this.machine.isIdle || this.#closing !== undefined) {
      this.#phase = "idle";
      return;
    }
    this.#notBefore = this.#startedAt + this.#waits.next();
    const opened: OpenStream = this.#options.transport.open(this.#options.method, {
      opened: () => {
        if (this.#stream !== opened) return;
        this.#phase = "open";
        this.#openedAt = this.#clock.now();
        this.#writing = false;
        this.#reading = false;
        const effects = this.machine.step({ kind: "opened" }, this.#clock.now());
        this.#options.sink.connected(this.#options.method.only);
        this.#handle(effects);
        this.#pump();
        this.#read();
        this.#look();
      },
      received: (bytes) => {
        if (this.#stream !== opened) return;
        this.#reading = false;
        if (this.#phase !== "ending") this.#received(bytes);
        this.#read();
      },
      ended: (code, message) => {
        if (this.#stream === opened) this.#ended(code, message);
      },
    });
    this.#stream = opened;
  };

  constructor(options: DiscoveryStreamOptions) {
    const { machine, method, context } = options;
    this.#options = options;
    this.machine = machine;
    this.#clock = context.clock;
    this.#waits = createWaits(context.backoff, context.random);
    this.#pace = createRepeatPace(method.variant);
  }

  #timer(milliseconds: number, call: () => void): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(milliseconds, call);
  }

  /** Starts the next thing to do, if any. */
  #look(): void {
    if (this.#closing !== undefined || this.#preparing) return;
    if (this.#phase === "open" && this.machine.isIdle)
      this.#timer(lingerMs, () => this.machine.isIdle && this.#finish());
    else if (this.#phase === "open") this.#stopTimer();
    else if ((this.#phase === "waiting" || this.#phase === "connecting") && this.machine.isIdle) this.#giveUp();
    else if (this.#phase === "idle" && !this.machine.isIdle) {
      const wait = this.#notBefore - this.#clock.now();
      if (wait > 0) {
        this.#phase = "waiting";
        this.#timer(wait, this.#attempt);
      } else {
        this.#attempt();
      }
    }
  }

  #giveUp(): void {
    this.#stopTimer();
    const given = this.#stream;
    this.#stream = undefined;
    this.#phase = "idle";
    given?.cancel(cancelled, "not needed any more");
  }

  #received(bytes: Uint8Array): void {
    const effects = this.machine.step({ kind: "response", bytes }, this.#clock.now());
    const wait = this.#pace.after(effects, this.#clock.now() - this.#readAt);
    if (wait > 0) {
      this.#stopPace = this.#clock.after(wait, () => {
        this.#stopPace = undefined;
        this.#read();
      });
    }
    this.#handle(effects);
    this.#pump();
  }

  #endPace(): void {
    this.#stopPace?.();
    this.#stopPace = undefined;
  }

  #ended(code: number, message: string): void {
    this.#stream = undefined;
    this.#stopTimer();
    const before = this.#phase;
    this.#phase = "idle";
    if (before === "open") this.#left(code, message);
    else if (before === "connecting") this.#failed(code, message);
    if (this.#closing !== undefined) this.#closing.resolve();
    else this.#look();
  }

  /** The stream is gone, or is being given up. */
  #left(code: number, message: string): void {
    this.#endPace();
    const isWell = this.#answered || (code === statusCode.ok && this.#isAgreed());
    this.#handle(this.machine.step({ kind: "closed" }, this.#clock.now()));
    this.#options.sink.disconnected(this.#options.method.only, code === statusCode.ok ? undefined : { code, message });
    // A57: the end of an answered stream is no failure, and the waits start again.
    if (isWell) {
      this.#waits.reset();
      this.#notBefore = this.#startedAt + this.#waits.next();
    } else {
      this.#failed(code, message);
    }
  }

  /** The server did not answer, and need not: the client said which versions it has. */
  #isAgreed(): boolean {
    if (this.#clock.now() - this.#openedAt < agreeingMs) return false;
    const hasVersion =
      this.#options.method.variant === "sotw"
        ? ({ version, isWhole }: ClientTypeStatus) => isWhole && version !== undefined
        : ({ resources }: ClientTypeStatus) => [...resources.values()].some(({ version }) => version !== "");
    return this.machine.status().some(hasVersion);
  }

  #failed(code: number, message: string): void {
    const why = code === statusCode.ok ? "it ended the stream without an answer" : `${message} (code ${code})`;
    this.#options.sink.failed(
      this.#options.method.only,
      awayError(this.#options.server, why, { cause: { code, message } }),
      false,
    );
  }

  /** Ends the stream cleanly: it is not needed. */
  #finish(): void {
    this.#phase = "ending";
    this.#endPace();
    this.#handle(this.machine.step({ kind: "closed" }, this.#clock.now()));
    this.#options.sink.disconnected(this.#options.method.only, undefined);
    this.#waits.reset();
    const last = this.#stream;
    last?.finish();
    // The rest of the stream must be read, or its end would never come.
    this.#read();
    this.#timer(farewellMs, () => last?.cancel(cancelled, "not needed any more"));
  }

  #handle(effects: readonly ClientStreamEffect[]): void {
    let unanswered: number | undefined;
    let update: ResourceUpdate | undefined;
    let type: ResourceType | undefined;
    for (const effect of effects) {
      switch (effect.kind) {
        case "received":
          this.#answered = true;
          type = effect.type;
          if (effect.awaitsAnswer) unanswered = effect.response;
          this.#options.sink.responded(effect.type, effect.good);
          break;
        case "update":
          update = effect.update;
          this.#hold(this.#options.sink.update(effect.update));
          break;
        case "rejected":
          this.#options.sink.rejected(effect.type, effect.version, effect.message, effect.bad);
          break;
        case "close":
          this.#abort(effect.code, effect.message);
          break;
      }
    }
    if (unanswered !== undefined && type !== undefined) {
      const response = unanswered;
      answerLater(this.#options.sink, type, update, (error) => {
        this.#handle(this.machine.step({ kind: "answer", response, error }, this.#clock.now()));
        this.#pump();
      });
    }
    this.#arm();
  }

  /** The response breaks the protocol, so it does not count as an answer. */
  #abort(code: number, message: string): void {
    const broken = this.#stream;
    this.#stream = undefined;
    this.#answered = false;
    if (this.#phase !== "open") return;
    this.#phase = "idle";
    broken?.cancel(code, message);
    this.#left(code, message);
    this.#look();
  }

  /** Reads on once watchers have taken their updates. */
  #hold(taken: void | Promise<void>): void {
    if (taken === undefined) return;
    this.#held += 1;
    void taken.then(() => {
      this.#held -= 1;
      this.#read();
    });
  }

  #read(): void {
    if (this.#stream === undefined || this.#reading || (this.#phase !== "open" && this.#phase !== "ending")) return;
    if ((this.#held > 0 || this.#stopPace !== undefined) && this.#phase === "open") return;
    this.#reading = true;
    this.#readAt = this.#clock.now();
    this.#stream.read();
  }

  #pump(): void {
    while (this.#phase === "open" && this.#stream !== undefined && !this.#writing) {
      const request = this.machine.next();
      if (request === undefined) return;
      const on = this.#stream;
      this.#writing = true;
      on.send(request.bytes, () => {
        if (this.#stream !== on) return;
        this.#writing = false;
        this.#pump();
      });
    }
  }

  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  /** Sets a timer for the machine's next deadline. */
  #arm(): void {
    const next = this.machine.deadline();
    if (next === this.#deadline) return;
    this.#deadline = next;
    this.#stopDeadline();
    this.#stopDeadline = () => {};
    if (next === undefined) return;
    this.#stopDeadline = this.#clock.after(Math.max(0, next - this.#clock.now()), () => {
      this.#deadline = undefined;
      if (this.#closing !== undefined) return;
      const now = this.#clock.now();
      const isOpen = this.#phase === "open";
      // The unread responses of a server that repeats itself are most likely the same again.
      const unread = isOpen && (this.#held > 0 || now - next > lateMs);
      this.#handle(this.machine.step({ kind: "time", unread, unsent: isOpen && this.#writing }, now));
      this.#pump();
    });
  }

  /**
   * The machine was changed from outside, by `subscribe` and the like: there may be a request to send, or nothing left
   * to do.
   */
  touched(effects: readonly ClientStreamEffect[]): void {
    this.#handle(effects);
    this.#look();
    this.#pumpSoon();
  }

  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise;
    let resolve = () => {};
    const promise = new Promise<void>((settle) => {
      resolve = settle;
    });
    this.#closing = { promise, resolve };
    this.#stopDeadline();
    const last = this.#stream;
    if (this.#phase === "open") this.#finish();
    else if (this.#phase !== "ending") {
      this.#giveUp();
      resolve();
    }
    if (last === undefined) resolve();
    return promise;
  }
}
