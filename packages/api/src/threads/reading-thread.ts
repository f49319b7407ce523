import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import {
  type ReadResourcesOptions,
  type ResourceFile,
  type ResourceFileForm,
  resourceFileForm,
} from "../files/resource-file.js";
import {
  type NamedInRequest,
  type ReadResourceRequestOptions,
  type ResourceRequest,
  readResourceRequest,
} from "../files/resource-request.js";
import { type ReadJsonResponseOptions, type ReadResponseJson, readJsonResponse } from "../json/json-response.js";
import type { PositionedResource } from "../reading/file-reading.js";
import { descriptorSetOf } from "../registry/registry.js";
import { type PackedTypes, packTypes } from "../resource-types/packed-types.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import type {
  ReadRest,
  ReadRests,
  SentResource,
  ThreadAnswer,
  ThreadRequest,
  ThreadStart,
  ToRead,
} from "./thread-messages.js";
import { answerOf, startThread } from "./threads.js";

/**
 * From this many bytes on, what somebody sends or writes may take longer than others may wait. YAML takes ten times as
 * long as JSON.
 */
const longText = { yaml: 32 * 1024, text: 100 * 1024, binary: 100 * 1024, json: 100 * 1024 };
/**
 * The same at a start, when nobody waits: JSON is read sooner than its resources could be sent, unless there is so much
 * that its memory should be the thread's.
 */
const longAtStart = { ...longText, yaml: 128 * 1024, json: 16 * 1024 * 1024 };

/** The time for which the thread waits for another text before it ends, in milliseconds. */
const idleMs = 30_000;

/**
 * The one way in which a program reads content that others write, when it has something else to do: what is long is
 * read in a separate thread, one after the other. The thread starts when it is needed, and ends after an idle time.
 */
export class ReadingThread {
  readonly #options: ReadResourcesOptions;
  readonly #types: PackedTypes | undefined;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReadResourcesOptions = {}) {
    this.#options = options;
    this.#types = packTypes(options.types);
  }

  /** Whether a file belongs here. A program's own types may hold functions, which cannot be sent to a thread. */
  takes(path: string, bytes: number, atStart = false): boolean {
    const form = resourceFileForm(path);
    return form !== undefined && this.#takes(form, bytes, atStart);
  }

  #takes(form: ResourceFileForm, bytes: number, atStart = false): boolean {
    if (this.#isClosed || this.#options.places === true || this.#types?.isWhole === false) return false;
    return bytes >= (atStart ? longAtStart : longText)[form];
  }

  /**
   * Reads a file as `readResources` does. May take over the memory of `bytes`.
   * @throws Error if the thread ends before it has read the file: it needed more memory than there is, or was closed
   */
  async file(path: string, bytes: Uint8Array): Promise<ResourceFile> {
    const { resources, end } = await this.#read({ kind: "file", path, bytes });
    return { resources, ...restOf(end, "file") };
  }

  /** Reads a request as `readResourceRequest` does, a long one in the thread. The rest is as for `file`. */
  async request(
    bytes: Uint8Array,
    how: Pick<ReadResourceRequestOptions, "form" | "keys" | "name">,
  ): Promise<ResourceRequest> {
    if (!this.#takes(how.form, bytes.length)) return readResourceRequest(bytes, { ...this.#options, ...how });
    const { resources, named, end } = await this.#read({ kind: "request", bytes, how });
    return { resources, named, ...restOf(end, "request") };
  }

  /** Reads a server's answer as `readJsonResponse` does, a long one in the thread. The rest is as for `file`. */
  async response(
    bytes: Uint8Array,
    { type, ...how }: Pick<ReadJsonResponseOptions, "type" | "standInType">,
  ): Promise<ReadResponseJson> {
    if (!this.#takes("json", bytes.length)) return readJsonResponse(bytes, { ...this.#options, type, ...how });
    return restOf((await this.#read({ kind: "response", bytes, type: type.typeUrl, how })).end, "response");
  }

  /** Ends the thread. A reading in progress fails. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#end();
  }

  #read(what: ToRead): Promise<ReadAll> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const read = this.#last.then(() => this.#readNext(what));
    this.#last = read
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
        if (this.#waiting > 0) return;
        this.#idle = setTimeout(() => this.#end(), idleMs).unref();
      });
    return read;
  }

  async #readNext(what: ToRead): Promise<ReadAll> {
    if (this.#isClosed) throw new Error("the source was closed");
    const worker = this.#worker ?? this.#start();
    const all: ReadAll = { resources: [], named: [], end: undefined };
    let request: ThreadRequest = what;
    let transferred: readonly ArrayBuffer[] = transferable(what.bytes);
    // A program that waits for nothing else must not end before its file was read.
    worker.ref();
    try {
      for (;;) {
        worker.postMessage(request, transferred);
        const { resources, named, end } = await answerOf<ThreadAnswer>(worker, "the thread that read it ended");
        for (const each of resources) all.resources.push(this.#arrived(each));
        for (const [type, name] of named) all.named.push({ type: this.#typeOf(type), name });
        if (end !== undefined) return { ...all, end };
        await turn();
        request = "next";
        transferred = [];
      }
    } catch (error) {
      // The next file gets a new thread.
      if (this.#worker === worker) this.#end();
      throw error;
    } finally {
      worker.unref();
    }
  }

  #arrived({ resource, references: runs, where }: SentResource): PositionedResource {
    const references = runs.flatMap(([type, ...names]) => names.map((name) => ({ type, name })));
    return { resource: { ...resource, type: this.#typeOf(resource.type), references }, where };
  }

  #typeOf(url: string): ResourceType {
    const type = (this.#options.types ?? resourceTypes).byTypeUrl(url)?.type;
    if (type === undefined) throw new Error(`${url} is no type of resources`);
    return type;
  }

  #start(): Worker {
    const { registry, validate, envoy } = this.#options;
    const descriptorSet = registry && descriptorSetOf(registry);
    const start: ThreadStart = { descriptorSet, types: this.#types, validate, envoy };
    const worker = startThread(import.meta.url, "reading-main", "xdskit-read", start);
    this.#worker = worker;
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

interface ReadAll {
  readonly resources: PositionedResource[];
  readonly named: NamedInRequest[];
  readonly end: ReadRest | undefined;
}

function restOf<K extends keyof ReadRests>(end: ReadRest | undefined, kind: K): ReadRests[K] {
  if (end?.kind !== kind) throw new Error(`the thread answered with another thing than a ${kind}`);
  return end.rest as ReadRests[K];
}

/** The memory of bytes that have it for themselves, such as a body or a file of some length. */
function transferable({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
