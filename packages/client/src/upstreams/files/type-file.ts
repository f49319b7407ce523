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
import { type FileLook, WatchedFile } from "./watched-file.js";

/** One type and its file: connects reading the file, the held resources and the sink. */
export class TypeFile {
  readonly #type: ResourceType;
  readonly #path: string;
  readonly #watchedDirectory: string | undefined;
  readonly #context: UpstreamContext;
  readonly #sink: UpstreamSink;
  readonly #reading: ReadingThread;
  readonly #subscription: FileSubscription;
  #file: WatchedFile | undefined;
  /** Files that are not needed any more, until they are closed. */
  readonly #closing = new Set<Promise<void>>();
  #isUp = false;
  /** The last read failed. */
  #isAway = false;
  /** The client is telling its held resources. */
  #preparing = false;
  /** The last content was rejected. */
  #isBad = false;
  /** Settles when the watchers have taken everything that was told; undefined if they have. */
  #notified: Promise<void> | undefined;
  #bringing = false;
  readonly #expiry: Alarm;
  #closed = false;

  constructor(
    type: ResourceType,
    path: string,
    watchedDirectory: string | undefined,
    context: UpstreamContext,
    sink: UpstreamSink,
    reading: ReadingThread,
  ) {
    this.#type = type;
    this.#path = path;
    this.#watchedDirectory = watchedDirectory;
    this.#context = context;
    this.#sink = sink;
    this.#reading = reading;
    this.#subscription = new FileSubscription(type);
    this.#expiry = new Alarm(context.clock, () => this.#tell(this.#subscription.expire(context.clock.now())));
  }

  get isIdle(): boolean {
    return this.#subscription.isIdle;
  }

  subscribe(names: readonly ResourceName[]): void {
    this.#subscription.subscribe(names);
    if (this.isIdle || this.#closed || this.#preparing) return;
    if (this.#file === undefined) {
      this.#prepare();
      if (!this.isIdle) this.#file = this.#open();
    } else this.#bringSoon();
  }

  unsubscribe(names: readonly ResourceName[]): void {
    this.#subscription.unsubscribe(names);
    // The timer finds what expired when it fires.
    if (this.isIdle) this.#awaitExpiry();
    this.#closeIdle();
  }

  #closeIdle(): void {
    if (!this.isIdle || this.#file === undefined || this.#preparing) return;
    this.#close(this.#file);
    this.#file = undefined;
    this.#subscription.forgetContent();
    if (this.#isUp) this.#sink.disconnected(this.#type, undefined);
    this.#isUp = false;
    this.#isAway = false;
    this.#isBad = false;
  }

  hold(resources: readonly ReceivedResource[]): void {
    this.#subscription.hold(resources, this.#context.clock.now());
    this.#awaitExpiry();
  }

  status(): ClientTypeStatus {
    return this.#subscription.status();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#expiry.set(undefined);
    if (this.#file !== undefined) this.#close(this.#file);
    await Promise.all(this.#closing);
  }

  #open(): WatchedFile {
    const file: WatchedFile = new WatchedFile({
      path: this.#path,
      watchedDirectory: this.#watchedDirectory,
      maxBytes: this.#context.limits.responseBytes,
      clock: this.#context.clock,
      onLook: (look) => (this.#closed || this.#file !== file ? Promise.resolve(true) : this.#seen(look)),
    });
    return file;
  }

  /**
   * The last moment for the client to tell its resources from another server: it unsubscribes, and subscribes again.
   */
  #prepare(): void {
    this.#preparing = true;
    this.#sink.attempting(this.#type);
    this.#preparing = false;
  }

  /** The content answers new subscribers; once for all of them. */
  #bringSoon(): void {
    if (this.#bringing) return;
    this.#bringing = true;
    queueMicrotask(() => {
      this.#bringing = false;
      const { content } = this.#subscription;
      if (content === undefined || this.isIdle || this.#closed) return;
      this.#tell(
        this.#subscription.bring(this.#context.clock.now()),
        this.#isAway ? undefined : content.resources.size,
      );
    });
  }

  #close(file: WatchedFile): void {
    const closing = file.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #seen(look: FileLook): Promise<boolean> {
    switch (look.kind) {
      case "unwatched": {
        const message = `the operating system refuses to watch ${look.reason}; the file is checked every few seconds`;
        this.#fail(this.#error("XDSKIT_WATCH_UNAVAILABLE", message), false);
        // This is no reason to ask another server.
        if (this.#subscription.content !== undefined && !this.#isAway) this.#sink.responded(this.#type);
        return true;
      }
      case "unreadable": {
        const stays = this.#subscription.content === undefined ? "" : "; what it held before stays in use";
        const message = `cannot be read: ${look.reason}${stays}`;
        this.#isAway = true;
        this.#fail(this.#error("XDSKIT_FILE_UNREADABLE", message), false);
        return true;
      }
      case "read":
        return this.#read(look.bytes, look.isNew);
    }
  }

  /** Whether the content can be used. */
  async #read(bytes: Uint8Array, isNew: boolean): Promise<boolean> {
    const { clock } = this.#context;
    if (this.#isAway) {
      this.#isAway = false;
      this.#prepare();
      this.#closeIdle();
      if (this.isIdle) return true;
    }
    let { content } = this.#subscription;
    if (!isNew && this.#isBad) return false;
    if (isNew || content === undefined) {
      const file = this.#file;
      try {
        content = await this.#parse(bytes);
        // Nobody may want it any more.
        if (this.#closed || this.#file !== file) return true;
        this.#isBad = false;
      } catch (error) {
        if (!(error instanceof XdskitError)) throw error;
        if (this.#closed || this.#file !== file) return true;
        this.#isBad = true;
        this.#subscription.reject(error.message, clock.now());
        this.#fail(error, true);
        return false;
      }
    }
    if (!this.#isUp) {
      this.#isUp = true;
      this.#sink.connected(this.#type);
    }
    this.#tell(this.#subscription.take(content, clock.now()), content.resources.size);
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
      if (this.#closed) return;
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
    if (!this.#closed) this.#expiry.set(this.#subscription.deadline());
  }
}
