import {
  Alarm,
  type Clock,
  createWaits,
  type Deferred,
  deferred,
  type ResourceType,
  type XdskitError,
} from "@xdskit/api";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientTypeStatus,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import { awayError } from "../../errors/client-errors.js";
import { answerLater } from "../contract/answer-later.js";
import { prepareLong, ResponseTurns } from "../contract/long-response.js";
import { UpdatesTaken } from "../contract/updates-taken.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { AttemptTimes } from "./attempt-times.js";
import {
  type DiscoveryStreamState,
  finished,
  idle,
  type OpenState,
  opened,
  preparing,
  stopTimers,
  streamOf,
} from "./discovery-stream-state.js";
import type { DiscoveryMethod } from "./methods.js";
import { createRepeatPace, type RepeatPace } from "./repeat-pace.js";
import { RequestPump } from "./request-pump.js";
import type { StreamTransport, UpstreamStream } from "./stream-transport.js";

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

/**
 * A machine and its stream. The stream is opened while names are wanted, again and again (A57), and never twice at
 * once.
 */
export class DiscoveryStream {
  readonly #options: DiscoveryStreamOptions;
  readonly machine: ClientStream;
  readonly #clock: Clock;
  readonly #attempts: AttemptTimes;
  readonly #pace: RepeatPace;
  #state: DiscoveryStreamState = idle;
  readonly #alarm: Alarm;
  readonly #pump: RequestPump;
  readonly #turns: ResponseTurns;
  /** Updates that watchers are still taking, of this stream or an earlier one: then it reads on. */
  readonly #taking = new UpdatesTaken(() => this.#read());
  #closing: Deferred<void> | undefined;

  constructor(options: DiscoveryStreamOptions) {
    const { machine, method, context, sink } = options;
    this.#options = options;
    this.machine = machine;
    this.#clock = context.clock;
    this.#alarm = new Alarm(context.clock, (at) => this.#due(at));
    this.#attempts = new AttemptTimes(createWaits(context.backoff, context.random));
    this.#pace = createRepeatPace(method.variant);
    this.#pump = new RequestPump(machine, () => (this.#state.kind === "open" ? this.#state : undefined));
    this.#turns = new ResponseTurns((bytes) => prepareLong(bytes, machine, sink));
  }

  /** Returns the state that is left, whose timers are stopped. */
  #enter(state: DiscoveryStreamState): DiscoveryStreamState {
    const left = this.#state;
    this.#state = state;
    stopTimers(left);
    return left;
  }

  /** Starts the next thing to do, if any. */
  #look(): void {
    const state = this.#state;
    if (this.#closing !== undefined) return;
    switch (state.kind) {
      case "idle":
        if (!this.machine.isIdle) this.#backOff();
        break;
      case "backing-off":
      case "connecting":
        if (this.machine.isIdle) this.#giveUp();
        break;
      case "open":
        state.stopLinger();
        if (this.machine.isIdle)
          state.stopLinger = this.#clock.after(lingerMs, () => this.machine.isIdle && this.#finish(state));
        break;
    }
  }

  /** Tries once the time for it has come. */
  #backOff(): void {
    const wait = this.#attempts.notBefore - this.#clock.now();
    if (wait > 0) this.#enter({ kind: "backing-off", stopTimer: this.#clock.after(wait, () => this.#attempt()) });
    else this.#attempt();
  }

  #attempt(): void {
    const { method, sink, transport } = this.#options;
    const startedAt = this.#clock.now();
    this.#enter(preparing);
    sink.attempting(method.only);
    if (this.machine.isIdle || this.#closing !== undefined) {
      this.#enter(idle);
      return;
    }
    this.#attempts.begun(startedAt);
    const stream: UpstreamStream = transport.open(method, {
      opened: () => {
        const state = this.#state;
        if (state.kind === "connecting" && state.stream === stream) this.#open(opened(state, this.#clock.now()));
      },
      received: (bytes) => this.#turns.take(() => this.#arrived(stream, bytes), bytes),
      ended: (code, message) => this.#turns.take(() => streamOf(this.#state) === stream && this.#ended(code, message)),
    });
    this.#enter({ kind: "connecting", stream, startedAt });
  }

  #arrived(stream: UpstreamStream, bytes: Uint8Array): void {
    const state = this.#state;
    if ((state.kind !== "open" && state.kind !== "ending") || state.stream !== stream) return;
    state.isReading = false;
    if (state.kind === "open") this.#received(state, bytes);
    this.#read();
  }

  #open(state: OpenState): void {
    this.#enter(state);
    const effects = this.machine.step({ kind: "opened" }, this.#clock.now());
    this.#options.sink.connected(this.#options.method.only);
    this.#handle(effects);
    this.#pump.now();
    this.#read();
    this.#look();
  }

  #giveUp(): void {
    streamOf(this.#enter(idle))?.cancel(cancelled, "not needed any more");
  }

  #received(state: OpenState, bytes: Uint8Array): void {
    const effects = this.machine.step({ kind: "response", bytes }, this.#clock.now());
    const wait = this.#pace.after(effects, this.#clock.now() - state.readAt);
    if (wait > 0) {
      state.stopPace = this.#clock.after(wait, () => {
        state.stopPace = undefined;
        this.#read();
      });
    }
    this.#handle(effects);
    this.#pump.now();
  }

  #ended(code: number, message: string): void {
    const before = this.#enter(idle);
    if (before.kind === "open") this.#left(before, code, message);
    else if (before.kind === "connecting") this.#failed(code, message);
    if (this.#closing !== undefined) this.#closing.resolve();
    else this.#look();
  }

  /** The open stream is gone, or was given up. */
  #left(before: OpenState, code: number, message: string): void {
    const ageMs = this.#clock.now() - before.openedAt;
    const isWell = before.isAnswered || (code === statusCode.ok && isAgreed(this.#options, ageMs));
    this.#handle(this.machine.step({ kind: "closed" }, this.#clock.now()));
    this.#options.sink.disconnected(this.#options.method.only, code === statusCode.ok ? undefined : { code, message });
    // A57: the end of an answered stream is no failure, and the waits start again.
    if (isWell) this.#attempts.succeeded(before.startedAt);
    else this.#failed(code, message);
  }

  #failed(code: number, message: string): void {
    this.#options.sink.failed(this.#options.method.only, endError(this.#options, code, message), false);
  }

  /** Ends the open stream cleanly: it is not needed. */
  #finish(open: OpenState): void {
    const ending = finished(open);
    const { stream } = ending;
    this.#enter(ending);
    this.#handle(this.machine.step({ kind: "closed" }, this.#clock.now()));
    this.#options.sink.disconnected(this.#options.method.only, undefined);
    this.#attempts.reset();
    stream.finish();
    // The rest of the stream must be read, or its end would never come.
    this.#read();
    ending.stopFarewell = this.#clock.after(farewellMs, () => stream.cancel(cancelled, "not needed any more"));
  }

  #handle(effects: readonly ClientStreamEffect[]): void {
    let unanswered: number | undefined;
    let update: ResourceUpdate | undefined;
    let type: ResourceType | undefined;
    for (const effect of effects) {
      switch (effect.kind) {
        case "received":
          if (this.#state.kind === "open") this.#state.isAnswered = true;
          type = effect.type;
          if (effect.awaitsAnswer) unanswered = effect.response;
          this.#options.sink.responded(effect.type, effect.good);
          break;
        case "update":
          update = effect.update;
          this.#taking.add(this.#options.sink.update(effect.update));
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
        this.#pump.now();
      });
    }
    this.#alarm.set(this.machine.deadline());
  }

  /** The response breaks the protocol, so it does not count as an answer. */
  #abort(code: number, message: string): void {
    const broken = this.#state;
    if (broken.kind !== "open") return;
    this.#enter(idle);
    broken.isAnswered = false;
    broken.stream.cancel(code, message);
    this.#left(broken, code, message);
    this.#look();
  }

  #read(): void {
    const state = this.#state;
    if ((state.kind !== "open" && state.kind !== "ending") || state.isReading) return;
    if (state.kind === "open") {
      if (this.#taking.isBusy || state.stopPace !== undefined) return;
      state.readAt = this.#clock.now();
    }
    state.isReading = true;
    state.stream.read();
  }

  /** The machine's deadline is over. */
  #due(deadline: number): void {
    if (this.#closing !== undefined) return;
    const now = this.#clock.now();
    const state = this.#state;
    const isOpen = state.kind === "open";
    // The unread responses of a server that repeats itself are most likely the same again.
    const unread = isOpen && (this.#taking.isBusy || this.#turns.isBusy || now - deadline > lateMs);
    this.#handle(this.machine.step({ kind: "time", unread, unsent: isOpen && state.isWriting }, now));
    this.#pump.now();
  }

  /**
   * The machine was changed from outside, by `subscribe` and the like: there may be a request to send, or nothing left
   * to do.
   */
  touched(effects: readonly ClientStreamEffect[]): void {
    this.#handle(effects);
    this.#look();
    this.#pump.soon();
  }

  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise;
    const { promise, resolve } = deferred();
    this.#closing = { promise, resolve };
    this.#alarm.set(undefined);
    const state = this.#state;
    // The end of the stream resolves it.
    if (state.kind === "open") this.#finish(state);
    else if (state.kind !== "ending") {
      this.#giveUp();
      resolve();
    }
    return promise;
  }
}

/** The server did not answer within `ageMs`, and need not: the client said which versions it has. */
function isAgreed({ machine, method }: DiscoveryStreamOptions, ageMs: number): boolean {
  if (ageMs < agreeingMs) return false;
  const hasVersion =
    method.variant === "sotw"
      ? ({ version, isWhole }: ClientTypeStatus) => isWhole && version !== undefined
      : ({ resources }: ClientTypeStatus) => [...resources.values()].some((one) => one.version !== "");
  return machine.status().some(hasVersion);
}

function endError({ server }: DiscoveryStreamOptions, code: number, message: string): XdskitError {
  const why = code === statusCode.ok ? "it ended the stream without an answer" : `${message} (code ${code})`;
  return awayError(server, why, { cause: { code, message } });
}
