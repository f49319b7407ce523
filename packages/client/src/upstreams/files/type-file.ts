import { Alarm, inTurns, type ResourceName, type ResourceType, readResources, XdskitError } from "@xdskit/api";
import type { ReadingThread } from "@xdskit/api/threads";
import {
  type ClientTypeStatus,
  type FileContent,
  FileSubscription,
  type ReceivedResource,
  type ResourceUpdate,
} from "@xdskit/protocol";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { contentSteps } from "./file-content.js";
import { type FileLook, WatchedFile, type WatchedFileOptions } from "./watched-file.js";

/** A file is watched. Invariants: something is wanted, and the content is known once a look was good. */
interface WatchingFile {
  readonly kind: "watching";
  readonly file: Pick<WatchedFile, "close">;
  /** What the last look found. */
  last: "nothing" | "good" | "bad" | "unreadable";
  /** Those who came after the content was told get it at the end of this turn. */
  newcomers: "none" | "waiting";
}

/**
 * - `idle`: nothing is wanted. Invariant: no content is known.
 * - `preparing`: the client is telling its current resources, before a file is opened, or is in use again after it was
 *   unreadable. Invariant: nothing else starts meanwhile.
 * - `closed`: for good. Invariant: the sink is told nothing.
 */
type TypeFileState =
  | { readonly kind: "idle" }
  | { readonly kind: "preparing"; readonly again: WatchingFile | undefined }
  | WatchingFile
  | { readonly kind: "closed" };

/** One type and its file: connects reading the file, the current resources and the sink. */
export class TypeFile {
  readonly #type: ResourceType;
  readonly #path: string;
  readonly #watchedDirectory: string | undefined;
  readonly #context: UpstreamContext;
  readonly #sink: UpstreamSink;
  readonly #reading: ReadingThread;
  readonly #subscription: FileSubscription;
  readonly #watch: (options: WatchedFileOptions) => WatchingFile["file"];
  #state: TypeFileState = { kind: "idle" };
  /** Files that are not needed any more, until they are closed. */
  readonly #closing = new Set<Promise<void>>();
  /** Settles when the watchers have taken everything that was told; undefined if they have. */
  #notified: Promise<void> | undefined;
  readonly #expiry: Alarm;

  constructor(
    type: ResourceType,
    path: string,
    watchedDirectory: string | undefined,
    context: UpstreamContext,
    sink: UpstreamSink,
    reading: ReadingThread,
    watch: (options: WatchedFileOptions) => WatchingFile["file"] = (options) => new WatchedFile(options),
  ) {
    this.#type = type;
    this.#path = path;
    this.#watchedDirectory = watchedDirectory;
    this.#context = context;
    this.#sink = sink;
    this.#reading = reading;
    this.#watch = watch;
    this.#subscription = new FileSubscription(type);
    this.#expiry = new Alarm(context.clock, () => this.#tell(this.#subscription.expire(context.clock.now())));
  }

  get isIdle(): boolean {
    return this.#subscription.isIdle;
  }

  subscribe(names: readonly ResourceName[]): void {
    this.#subscription.subscribe(names);
    const state = this.#state;
    if (state.kind === "watching") this.#bringSoon(state);
    else if (state.kind === "idle" && !this.isIdle) this.#prepare(undefined);
  }

  unsubscribe(names: readonly ResourceName[]): void {
    this.#subscription.unsubscribe(names);
    // The timer finds what expired when it fires.
    if (this.isIdle) this.#awaitExpiry();
    this.#closeIdle();
  }

  #closeIdle(): void {
    const state = this.#state;
    if (!this.isIdle || state.kind !== "watching") return;
    const { content } = this.#subscription;
    this.#state = { kind: "idle" };
    this.#close(state);
    this.#subscription.forgetContent();
    if (content !== undefined) this.#sink.disconnected(this.#type, undefined);
  }

  hold(resources: readonly ReceivedResource[]): void {
    this.#subscription.hold(resources, this.#context.clock.now());
    this.#awaitExpiry();
  }

  status(): ClientTypeStatus {
    return this.#subscription.status();
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: "closed" };
    this.#expiry.set(undefined);
    const watching = state.kind === "preparing" ? state.again : state;
    if (watching?.kind === "watching") this.#close(watching);
    await Promise.all(this.#closing);
  }

  #open(): WatchingFile {
    const file = this.#watch({
      path: this.#path,
      watchedDirectory: this.#watchedDirectory,
      maxBytes: this.#context.limits.responseBytes,
      clock: this.#context.clock,
      onLook: (look) => (this.#state === opened ? this.#seen(opened, look) : Promise.resolve(true)),
    });
    const opened: WatchingFile = { kind: "watching", file, last: "nothing", newcomers: "none" };
    return opened;
  }

  /**
   * The last moment for the client to tell its resources from another server: it unsubscribes, and subscribes again.
   */
  #prepare(again: WatchingFile | undefined): void {
    const preparing: TypeFileState = { kind: "preparing", again };
    this.#state = preparing;
    this.#sink.attempting(this.#type);
    if (this.#state !== preparing) return;
    this.#state = again ?? (this.isIdle ? { kind: "idle" } : this.#open());
    this.#closeIdle();
  }

  /** The content answers new subscribers; once for all of them. */
  #bringSoon(state: WatchingFile): void {
    if (state.newcomers === "waiting") return;
    state.newcomers = "waiting";
    queueMicrotask(() => {
      state.newcomers = "none";
      const { content } = this.#subscription;
      if (content === undefined || this.#state !== state) return;
      this.#tell(
        this.#subscription.bring(this.#context.clock.now()),
        state.last === "unreadable" ? undefined : content.resources.size,
      );
    });
  }

  #close({ file }: WatchingFile): void {
    const closing = file.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #seen(state: WatchingFile, look: FileLook): Promise<boolean> {
    switch (look.kind) {
      case "unwatched": {
        const message = `the operating system refuses to watch ${look.reason}; the file is checked every few seconds`;
        this.#fail(this.#error("XDSKIT_WATCH_UNAVAILABLE", message), false);
        // This is no reason to ask another server.
        if (this.#subscription.content !== undefined && state.last !== "unreadable") this.#sink.responded(this.#type);
        return true;
      }
      case "unreadable": {
        const stays = this.#subscription.content === undefined ? "" : "; what it had before stays in use";
        const message = `cannot be read: ${look.reason}${stays}`;
        state.last = "unreadable";
        this.#fail(this.#error("XDSKIT_FILE_UNREADABLE", message), false);
        return true;
      }
      case "read":
        return this.#read(state, look.bytes, look.isNew);
    }
  }

  /** Whether the content can be used. */
  async #read(state: WatchingFile, bytes: Uint8Array, isNew: boolean): Promise<boolean> {
    const { clock } = this.#context;
    if (state.last === "unreadable") {
      state.last = "nothing";
      this.#prepare(state);
      if (this.#state !== state) return true;
    }
    if (!isNew && state.last === "bad") return false;
    const before = this.#subscription.content;
    let content = before;
    if (isNew || content === undefined) {
      try {
        content = await this.#parse(bytes);
      } catch (error) {
        if (!(error instanceof XdskitError)) throw error;
        if (this.#state !== state) return true;
        state.last = "bad";
        this.#subscription.reject(error.message, clock.now());
        this.#fail(error, true);
        return false;
      }
    }
    // Nobody may want it any more.
    if (this.#state !== state) return true;
    state.last = "good";
    if (before === undefined) this.#sink.connected(this.#type);
    if (this.#state === state) this.#tell(this.#subscription.take(content, clock.now()), content.resources.size);
    await this.#notified;
    return true;
  }

  async #parse(bytes: Uint8Array): Promise<FileContent> {
    const before = this.#subscription.content;
    if (bytes.length === 0 && before !== undefined && before.resources.size > 0) {
      // Even Envoy's protobuf cannot tell an empty response from a file that is being written.
      throw this.#error("XDSKIT_FILE_EMPTIED", "it is empty now; write `resources: []` if there are no resources");
    }
    const options = { ...this.#context, type: this.#type };
    return inTurns(contentSteps({ path: this.#path }, await this.#readResources(bytes), before, options));
  }

  async #readResources(bytes: Uint8Array) {
    const path = this.#path;
    const { types, registry, rules: validate } = this.#context;
    if (!this.#reading.takes(path, bytes.length)) {
      return readResources({ path, bytes }, { types, registry, validate, envoy: false });
    }
    try {
      return await this.#reading.file(path, bytes);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw this.#error("XDSKIT_FILE_UNREADABLE", `cannot be read: ${reason}`);
    }
  }

  #fail(error: XdskitError, nack: boolean): void {
    this.#sink.failed(this.#type, error, nack);
  }

  #error(code: "XDSKIT_WATCH_UNAVAILABLE" | "XDSKIT_FILE_UNREADABLE" | "XDSKIT_FILE_EMPTIED", message: string) {
    return XdskitError.of(code, message, { file: this.#path, type: this.#type.name });
  }

  /**
   * Updates go one after the other, each when the watchers have taken the one before. `good`: the update is an answer
   * with this many good resources.
   */
  #tell(update: ResourceUpdate | undefined, good?: number): void {
    this.#awaitExpiry();
    if (update === undefined && good === undefined) return;
    const tell = () => {
      if (this.#state.kind === "closed") return;
      // In the same turn as the update.
      if (good !== undefined) this.#sink.responded(this.#type, good);
      return update === undefined ? undefined : this.#sink.update(update);
    };
    const before = this.#notified;
    const notified = before === undefined ? Promise.resolve(tell()) : before.then(tell);
    this.#notified = notified;
    void notified.then(() => {
      if (this.#notified === notified) this.#notified = undefined;
    });
  }

  #awaitExpiry(): void {
    if (this.#state.kind !== "closed") this.#expiry.set(this.#subscription.deadline());
  }
}
