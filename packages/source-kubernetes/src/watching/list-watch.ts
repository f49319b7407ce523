import { isDeepStrictEqual } from "node:util";
import { systemClock, XdskitError } from "@xdskit/api";
import type { KubernetesConnection } from "../connection/connection.js";
import { keyOf, type ObjectShape } from "../objects/object-shape.js";
import { KubernetesApiError } from "./api-error.js";
import { getJson, readLines } from "./api-request.js";
import { createRetries } from "./retries.js";

/** What is watched, and who is told. */
export interface ListWatchOptions<Value> {
  readonly connection: KubernetesConnection;
  /** `/api/v1/namespaces/shop/services`. */
  readonly path: string;
  /** Undefined: all. */
  readonly labelSelector: string | undefined;
  /** As for kubectl; undefined: all. */
  readonly fieldSelector?: string | undefined;
  /** Reads an object; undefined: it counts as if it were not there. */
  readonly read: (object: ObjectShape) => Value | undefined;
  /** One has come, has another content, or is gone (undefined). Equal content is not told. */
  readonly objectChanged: (key: string, before: Value | undefined, value: Value | undefined) => void;
  /** It could not be read, or can again (undefined). The picture stays as it was. */
  readonly failed: (error: Error | undefined) => void;
  /** All that there is was told. Called after each time that everything was read. */
  readonly synced: () => void;
  /** For tests. Default: half a minute. */
  readonly silenceMs?: number | undefined;
}

/** An event of a watch. */
interface ListWatchEvent {
  readonly type?: string;
  readonly object?: ObjectShape & { readonly code?: number; readonly message?: string };
}

interface ObjectList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly ObjectShape[];
}

/** Marks the end of what there was when a watch began. */
const initialEnd = "k8s.io/initial-events-end";
/**
 * A watch that says nothing for this long is replaced by one that goes on from there: nobody can tell a silent one from
 * one whose connection is lost. The new one proves that the server is there.
 */
const usualSilenceMs = 30_000;
/** A server ends a watch itself, so that clients spread over all servers again. */
const [shortestWatch, longestWatch] = [300, 600];
/** Objects of one answer. */
const pageSize = 500;
/** More of one kind than any cluster has. */
const maxObjects = 500_000;

/** Follows all objects of one kind: it reads them once, and then every change of them. */
export class ListWatch<Value> {
  readonly #options: ListWatchOptions<Value>;
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  readonly #known = new Map<string, Value>();
  /** Up to where everything is known; undefined: nothing is, or it must be read whole. */
  #version: string | undefined;
  /** Whether a watch may begin with what there is. Older servers cannot. */
  #streamsLists = true;
  #heardAt: number | undefined;
  /** Whether the server has answered the last attempt. */
  #isAnswered = false;

  constructor(options: ListWatchOptions<Value>) {
    this.#options = options;
    this.#ended = this.#run();
  }

  /** When the server last said that there is nothing newer, in milliseconds since 1970; undefined: never yet. */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    const retries = createRetries();
    while (!signal.aborted) {
      this.#isAnswered = false;
      try {
        if (this.#version === undefined && !this.#streamsLists) await this.#list();
        const since = systemClock.now();
        await this.#watch();
        // One that ends at once, again and again, must not be asked as fast as it can be.
        if (systemClock.now() - since > 1_000) retries.reset();
        else await retries.wait(signal, undefined);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error as Error, (after) => retries.wait(signal, after));
      }
    }
  }

  async #recover(error: Error, wait: (afterMs: number | undefined) => Promise<void>): Promise<void> {
    const refused = error instanceof KubernetesApiError ? error : undefined;
    if (refused?.isExpired === true && this.#version !== undefined) {
      // All is read anew. What came and went meanwhile is found by comparing, so nothing is missed.
      this.#version = undefined;
      return await wait(undefined);
    }
    if (this.#version === undefined && this.#streamsLists && (refused?.status === 400 || refused?.status === 422)) {
      this.#streamsLists = false;
      return;
    }
    // A watch that breaks is no trouble, if the next one goes on.
    if (!this.#isAnswered) this.#options.failed(error);
    await wait(refused?.retryAfterMs);
  }

  /** Reads all of them, page by page: one state of the server. */
  async #list(): Promise<void> {
    const { connection, path } = this.#options;
    const found = new Map<string, Value>();
    let next: string | undefined;
    let version: string | undefined;
    do {
      const query = this.#query({ limit: `${pageSize}`, ...(next === undefined ? {} : { continue: next }) });
      const list = (await getJson(connection, `${path}?${query}`, this.#end.signal)) as ObjectList;
      for (const object of list.items ?? []) this.#add(found, object);
      version = list.metadata?.resourceVersion;
      next = list.metadata?.continue || undefined;
    } while (next !== undefined);
    this.#replace(found, version);
  }

  /** Follows changes until the server ends it, or says nothing for too long. */
  async #watch(): Promise<void> {
    const { connection, path, silenceMs = usualSilenceMs } = this.#options;
    const { signal } = this.#end;
    /** Undefined: the watch goes on from what is known. */
    let initial: Map<string, Value> | undefined = this.#version === undefined ? new Map() : undefined;
    const seconds = Math.round(shortestWatch + Math.random() * (longestWatch - shortestWatch));
    const query = this.#query({
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: `${seconds}`,
      ...(initial === undefined
        ? { resourceVersion: this.#version ?? "" }
        : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }),
    });
    await readLines(connection, `${path}?${query}`, {
      signal,
      silenceMs,
      opened: () => {
        this.#isAnswered = true;
        if (initial === undefined) this.#heard();
      },
      line: (value) => {
        const event = value as ListWatchEvent;
        if (initial !== undefined) {
          initial = this.#takeInitial(initial, event);
          return;
        }
        this.#heard();
        this.#take(event);
      },
    });
    // An older server takes no notice of the wish, and never says that this was all.
    if (initial !== undefined) this.#streamsLists = false;
  }

  /** Returns undefined once everything is there. */
  #takeInitial(initial: Map<string, Value>, { type, object = {} }: ListWatchEvent): Map<string, Value> | undefined {
    if (type === "ERROR") {
      // Its etcd is too old for it, which it says only now.
      this.#streamsLists = false;
      throw errorOf(object);
    }
    if (type !== "BOOKMARK") {
      this.#add(initial, object);
      return initial;
    }
    if (object.metadata?.annotations?.[initialEnd] !== "true") return initial;
    this.#replace(initial, object.metadata.resourceVersion);
    return undefined;
  }

  #take({ type, object = {} }: ListWatchEvent): void {
    if (type === "ERROR") throw errorOf(object);
    if (type !== "BOOKMARK") this.#set(keyOf(object), type === "DELETED" ? undefined : this.#read(object));
    this.#version = object.metadata?.resourceVersion ?? this.#version;
  }

  /** Everything that there is: what is not in it is gone. */
  #replace(found: ReadonlyMap<string, Value>, version: string | undefined): void {
    for (const key of this.#known.keys()) if (!found.has(key)) this.#set(key, undefined);
    for (const [key, value] of found) this.#set(key, value);
    this.#version = version;
    this.#heard();
    this.#options.synced();
  }

  #set(key: string, value: Value | undefined): void {
    const before = this.#known.get(key);
    if (isDeepStrictEqual(before, value)) return;
    if (value === undefined) this.#known.delete(key);
    else this.#known.set(key, value);
    if (this.#known.size > maxObjects) throw tooMany();
    this.#options.objectChanged(key, before, value);
  }

  /** One that cannot be read, which no API server writes, must not keep all others from being followed. */
  #read(object: ObjectShape): Value | undefined {
    try {
      return this.#options.read(object);
    } catch {
      return undefined;
    }
  }

  #add(found: Map<string, Value>, object: ObjectShape): void {
    const value = this.#read(object);
    if (value !== undefined) found.set(keyOf(object), value);
    if (found.size > maxObjects) throw tooMany();
  }

  #heard(): void {
    this.#heardAt = Date.now();
    this.#options.failed(undefined);
  }

  #query(values: Readonly<Record<string, string>>): URLSearchParams {
    const { labelSelector, fieldSelector } = this.#options;
    const query = new URLSearchParams(values);
    for (const [name, value] of Object.entries({ labelSelector, fieldSelector }))
      if (value !== undefined) query.set(name, value);
    return query;
  }
}

function errorOf({ code = 500, message = "" }: NonNullable<ListWatchEvent["object"]>): KubernetesApiError {
  return new KubernetesApiError(code, JSON.stringify({ message }));
}

function tooMany(): XdskitError {
  return XdskitError.of("XDSKIT_KUBERNETES", `the API server has more than ${maxObjects} objects of one kind`);
}
