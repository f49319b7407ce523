import { type Deferred, deferred, type XdskitError } from "@xdskit/api";
import { type Merge, Pending } from "./pending.js";

/** Any watcher. */
export interface Watcher<Value> {
  onChanged(value: Value): void | PromiseLike<void>;
  onError?(error: XdskitError): void | PromiseLike<void>;
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
  /** The last ambient error is over, and nothing else changed. */
  onRecovered?(): void;
}

/** The parts that the watchers of one type share. */
export interface WatcherContext<Value> {
  readonly merge: Merge<Value>;
  /** Takes the errors that a watcher throws. */
  failed(error: unknown): void;
}

/**
 * The calls to one watcher: one after the other, each once the promise of the one before has settled. Values given in
 * the turn that makes the delivery are told in a later turn. There is one for each watch, so it is a class, whose
 * functions all share.
 */
export class WatcherDelivery<Value> {
  readonly #watcher: Watcher<Value>;
  readonly #context: WatcherContext<Value>;
  /** Only while there is something to tell: most watchers are up to date. */
  #pending: Pending<Value> | undefined;
  #working = true;
  #late = false;
  #cancelled = false;
  #waiting: Deferred<void> | undefined;

  constructor(watcher: Watcher<Value>, context: WatcherContext<Value>) {
    this.#watcher = watcher;
    this.#context = context;
    queueMicrotask(() => this.#work());
  }

  get #items(): Pending<Value> {
    this.#pending ??= new Pending(this.#context.merge);
    return this.#pending;
  }

  #call(): void | PromiseLike<void> {
    const item = this.#pending?.take();
    const watcher = this.#watcher;
    try {
      switch (item?.kind) {
        case "changed":
          return watcher.onChanged(item.value);
        case "error":
          return watcher.onError?.(item.error);
        case "ambient":
          return watcher.onAmbient?.(item.error);
      }
    } catch (error) {
      this.#context.failed(error);
    }
  }

  #work(): void {
    this.#working = true;
    while (this.#pending?.isEmpty === false) {
      const result = this.#call();
      if (!isPromise(result)) continue;
      Promise.resolve(result)
        .catch((error: unknown) => {
          if (!this.#cancelled) this.#context.failed(error);
        })
        .then(() => this.#work());
      return;
    }
    this.#pending = undefined;
    this.#working = false;
    this.#late = false;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #given(): void {
    if (this.#cancelled) this.#pending = undefined;
    else if (!this.#working) this.#work();
  }

  valueChanged(value: Value): void {
    this.#items.valueChanged(value);
    this.#given();
  }

  error(error: XdskitError): void {
    this.#items.error(error);
    this.#given();
  }

  ambient(error: XdskitError): void {
    this.#items.ambient(error);
    this.#given();
  }

  recovered(): void {
    if (this.#cancelled) return;
    this.#pending?.recovered();
    try {
      this.#watcher.onRecovered?.();
    } catch (error) {
      this.#context.failed(error);
    }
  }

  /** Tells the watcher nothing more. */
  cancel(): void {
    this.#cancelled = true;
    this.#pending = undefined;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** Resolves once the watcher has taken everything; undefined if it has, or if it is late. */
  get busy(): Promise<void> | undefined {
    if (!this.#working || this.#late || this.#cancelled) return undefined;
    this.#waiting ??= deferred();
    return this.#waiting.promise;
  }

  /** The watcher took too long: until it is done it does not hold up reading. */
  giveUp(): void {
    this.#late = true;
  }
}

function isPromise(value: void | PromiseLike<void>): value is PromiseLike<void> {
  return typeof (value as PromiseLike<void> | undefined)?.then === "function";
}
