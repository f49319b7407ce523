import { type ResourceName, type ResourceType, XdskitError } from "@xdskit/api";
import type { ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { UpstreamContext, UpstreamSink } from "../upstream.js";
import { readContent } from "./file-content.js";
import { FileSubscription } from "./file-subscription.js";
import { type FileLook, WatchedFile } from "./watched-file.js";

/** One type and its file: what is read goes into what is held, and what became different to the sink, one after the other. */
export class TypeFile {
  readonly #type: ResourceType;
  readonly #path: string;
  readonly #watchedDirectory: string | undefined;
  readonly #context: UpstreamContext;
  readonly #sink: UpstreamSink;
  readonly #subscription: FileSubscription;
  #file: WatchedFile | undefined;
  /** Those that nobody needs any more, until they are closed. */
  readonly #closing = new Set<Promise<void>>();
  #isUp = false;
  /** What was read last was rejected. */
  #isBad = false;
  /** What was told to the sink so far. */
  #told: Promise<void> = Promise.resolve();
  #bringing = false;
  #stopTimer = () => {};
  #closed = false;

  constructor(
    type: ResourceType,
    path: string,
    watchedDirectory: string | undefined,
    context: UpstreamContext,
    sink: UpstreamSink,
  ) {
    this.#type = type;
    this.#path = path;
    this.#watchedDirectory = watchedDirectory;
    this.#context = context;
    this.#sink = sink;
    this.#subscription = new FileSubscription(type);
  }

  get isIdle(): boolean {
    return this.#subscription.isIdle;
  }

  subscribe(names: readonly ResourceName[]): void {
    this.#subscription.subscribe(names);
    if (this.isIdle || this.#closed) return;
    this.#file ??= this.#open();
    if (this.#bringing) return;
    // Once for all who subscribe now.
    this.#bringing = true;
    queueMicrotask(() => {
      this.#bringing = false;
      this.#tell(this.#subscription.bring(this.#context.clock.now()));
    });
  }

  unsubscribe(names: readonly ResourceName[]): void {
    this.#subscription.unsubscribe(names);
    this.#awaitExpiry();
    if (!this.isIdle || this.#file === undefined) return;
    this.#close(this.#file);
    this.#file = undefined;
    this.#subscription.forgetContent();
    if (this.#isUp) this.#sink.disconnected(this.#type, undefined);
    this.#isUp = false;
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
    this.#stopTimer();
    if (this.#file !== undefined) this.#close(this.#file);
    await Promise.all(this.#closing);
  }

  #open(): WatchedFile {
    this.#sink.attempting();
    const file: WatchedFile = new WatchedFile({
      path: this.#path,
      watchedDirectory: this.#watchedDirectory,
      maxBytes: this.#context.limits.responseBytes,
      clock: this.#context.clock,
      onLook: (look) => (this.#closed || this.#file !== file ? Promise.resolve(true) : this.#seen(look)),
    });
    return file;
  }

  #close(file: WatchedFile): void {
    const closing = file.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #seen(look: FileLook): Promise<boolean> {
    switch (look.kind) {
      case "unwatched": {
        const message = `the operating system refuses to watch ${look.reason}; the file is looked at every few seconds`;
        this.#fail(this.#error("XDSKIT_WATCH_UNAVAILABLE", message), false);
        // It is no reason to ask somebody else.
        if (this.#subscription.content !== undefined) this.#sink.responded(this.#type);
        return true;
      }
      case "unreadable": {
        const stays = this.#subscription.content === undefined ? "" : "; what it held before stays in use";
        const message = `cannot be read: ${look.reason}${stays}`;
        this.#fail(this.#error("XDSKIT_FILE_UNREADABLE", message), false);
        return true;
      }
      case "read":
        return this.#read(look.bytes, look.isNew);
    }
  }

  /** Whether it is of use. */
  async #read(bytes: Uint8Array, isNew: boolean): Promise<boolean> {
    const { clock } = this.#context;
    let { content } = this.#subscription;
    if (!isNew && this.#isBad) return false;
    if (isNew || content === undefined) {
      try {
        content = this.#parse(bytes);
        this.#isBad = false;
      } catch (error) {
        if (!(error instanceof XdskitError)) throw error;
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
    this.#sink.responded(this.#type, content.resources.size);
    this.#tell(this.#subscription.take(content, clock.now()));
    await this.#told;
    return true;
  }

  #parse(bytes: Uint8Array) {
    const before = this.#subscription.content;
    if (bytes.length === 0 && before !== undefined && before.resources.size > 0) {
      // Not even Envoy's protobuf tells an empty response from a file that is being written.
      throw this.#error("XDSKIT_FILE_EMPTIED", "it has no bytes any more; `resources: []` says that there is nothing");
    }
    return readContent({ path: this.#path, bytes }, before, { ...this.#context, type: this.#type });
  }

  #fail(error: XdskitError, nack: boolean): void {
    this.#sink.failed(this.#type, error, nack);
  }

  #error(code: "XDSKIT_WATCH_UNAVAILABLE" | "XDSKIT_FILE_UNREADABLE" | "XDSKIT_FILE_EMPTIED", message: string) {
    return XdskitError.of(code, message, { file: this.#path, type: this.#type.name });
  }

  #tell(update: ResourceUpdate | undefined): void {
    this.#awaitExpiry();
    if (update === undefined) return;
    this.#told = this.#told.then(() => (this.#closed ? undefined : this.#sink.update(update)));
  }

  #awaitExpiry(): void {
    this.#stopTimer();
    const { clock } = this.#context;
    const deadline = this.#subscription.deadline();
    if (deadline === undefined || this.#closed) return;
    this.#stopTimer = clock.after(Math.max(0, deadline - clock.now()), () =>
      this.#tell(this.#subscription.expire(clock.now())),
    );
  }
}
