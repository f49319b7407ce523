import { Alarm, type ResourceType } from "@xdskit/api";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientStreamEvent,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import { answerLater } from "../contract/answer-later.js";
import { prepareLong } from "../contract/long-response.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";

export interface PolledStreamOptions {
  readonly type: ResourceType;
  readonly machine: ClientStream;
  readonly context: Pick<UpstreamContext, "clock">;
  readonly sink: UpstreamSink;
}

/** What became of effects of the machine. */
interface Handled {
  /** Resolves when the watchers have taken the update, if there was one. */
  readonly delivered: Promise<unknown>;
  /** Why the rest of this stream cannot be understood. */
  readonly broken: string | undefined;
}

/**
 * - `shut`: the machine sees no stream.
 * - `open`: it sees one, and no poll was answered yet.
 * - `answered`: the sink was told `connected`.
 * - `broken`: the same, but the machine has ended the stream, and the sink must still be told.
 */
type State = "shut" | "open" | "answered" | "broken";

/** The stream that the machine of one polled type sees: it lasts from poll to poll, until one fails. */
export class PolledStream {
  readonly #options: PolledStreamOptions;
  #state: State = "shut";
  /** The last body that was taken; undefined if the same body must be taken again. */
  #taken: { readonly digest: string; readonly good: number } | undefined;
  /** The watchers are still taking the last answer. */
  #isDelivering = false;
  readonly #alarm: Alarm;
  /** The client is closed: the sink is told nothing any more. */
  #isClosed = false;

  constructor(options: PolledStreamOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.context.clock, () => this.step({ kind: "time", unread: this.#isDelivering }));
  }

  /** Whether a poll of this stream was answered. */
  get isUp(): boolean {
    return this.#state === "answered" || this.#state === "broken";
  }

  /** A poll is about to start. */
  open(): void {
    const { type, sink, machine } = this.#options;
    if (this.#state === "open" || this.#state === "answered") return;
    sink.attempting(type);
    if (this.#isClosed || machine.isIdle) return;
    this.#state = this.#state === "broken" ? "answered" : "open";
    this.step({ kind: "opened" });
  }

  /** Names are wanted or not wanted any more, or resources come from elsewhere. */
  step(event: ClientStreamEvent): void {
    this.#handle(this.#effectsOf(event));
  }

  /** The server answered that nothing is new; false if the body with this digest must be taken again. */
  isUnchanged(digest: string): boolean {
    if (digest !== this.#taken?.digest) return false;
    this.responded(this.#taken.good);
    return true;
  }

  /** The next body must be taken even if it is the same. */
  takeAgain(): void {
    this.#taken = undefined;
  }

  /** The server is present; `good`: the number of resources that it sent and that can be used. */
  responded(good: number): void {
    const { type, sink } = this.#options;
    if (!this.isUp) {
      this.#state = this.#state === "open" ? "answered" : "broken";
      sink.connected(type);
    }
    sink.responded(type, good);
  }

  /** Takes a response, and waits for the watchers. Returns why the rest of the stream cannot be understood. */
  async take(bytes: Uint8Array, digest: string, hasTtls: boolean): Promise<string | undefined> {
    this.#isDelivering = true;
    const { machine, sink } = this.#options;
    const preparing = prepareLong(bytes, machine, sink);
    if (preparing !== undefined) await preparing;
    if (this.#isClosed) return undefined;
    const effects = this.#effectsOf({ kind: "response", bytes });
    const received = effects.find(({ kind }) => kind === "received");
    const good = received?.kind === "received" ? received.good : 0;
    // In the same turn as the update.
    this.responded(good);
    // The TTLs start again each time.
    this.#taken = received === undefined || hasTtls ? undefined : { digest, good };
    const { delivered, broken } = this.#handle(effects);
    await delivered;
    this.#isDelivering = false;
    return broken;
  }

  /** A poll failed with this message, or none is wanted any more. */
  shut(why: string | undefined): void {
    const { type, sink } = this.#options;
    const before = this.#state;
    this.#taken = undefined;
    this.#state = "shut";
    if (before === "open" || before === "answered") this.step({ kind: "closed" });
    if (why === undefined) this.#alarm.set(undefined);
    if (before !== "answered" && before !== "broken") return;
    if (this.#isClosed) return;
    sink.disconnected(type, why === undefined ? undefined : { code: statusCode.unavailable, message: why });
  }

  /** The client is closed. */
  close(): void {
    this.#isClosed = true;
    this.#alarm.set(undefined);
  }

  #effectsOf(event: ClientStreamEvent): readonly ClientStreamEffect[] {
    const { machine, context } = this.#options;
    return machine.step(event, context.clock.now());
  }

  /** Tells the sink. */
  #handle(effects: readonly ClientStreamEffect[]): Handled {
    const { type, sink } = this.#options;
    let delivered: Promise<unknown> = Promise.resolve();
    let broken: string | undefined;
    let unanswered: number | undefined;
    let update: ResourceUpdate | undefined;
    for (const effect of this.#isClosed ? [] : effects) {
      if (effect.kind === "close") {
        // The next poll starts as on another stream.
        this.#state = this.isUp ? "broken" : "shut";
        this.#taken = undefined;
        broken = effect.message;
      } else if (effect.kind === "received") unanswered = effect.awaitsAnswer ? effect.response : undefined;
      else if (effect.kind === "rejected") sink.rejected(type, effect.version, effect.message, effect.bad);
      else if (effect.kind === "update") {
        update = effect.update;
        delivered = Promise.resolve(sink.update(update));
      }
    }
    if (unanswered !== undefined) {
      const response = unanswered;
      // The decision goes out with the next poll.
      answerLater(sink, type, update, (error) => this.step({ kind: "answer", response, error }));
    }
    if (!this.#isClosed) this.#alarm.set(this.#options.machine.deadline());
    return { delivered, broken };
  }
}
