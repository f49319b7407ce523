import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import {
  descriptorSetOf,
  type PackedTypes,
  type PositionedResource,
  packTypes,
  type ReadResourcesOptions,
  type Resource,
  type ResourceFile,
  resourceFileForm,
  resourceTypes,
} from "@xdskit/api";
import { answerOf, startThread } from "../../../basics/threads.js";
import type { SentResource, ThreadAnswer, ThreadRequest, ThreadStart } from "./thread-messages.js";

/**
 * From this many bytes on, reading a file may take longer than streams may wait: about 50 ms. JSON is read ten times as
 * fast as the others.
 */
const longFile = { yaml: 128 * 1024, text: 128 * 1024, binary: 128 * 1024, json: 1024 * 1024 };

/** The time for which the thread waits for another file before it ends, in milliseconds. */
const idleMs = 30_000;

/**
 * Reads long files in a separate thread, one after the other, so that streams are served meanwhile. The thread starts
 * when it is needed, and ends after an idle time.
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

  /**
   * Whether a file is read here. A program's own types may hold functions, which cannot be sent to a thread. At a
   * start no stream waits, and JSON of any length is read sooner than its resources could be sent.
   */
  takes(path: string, bytes: number, atStart = false): boolean {
    const { places } = this.#options;
    if (this.#isClosed || places === true || this.#types?.isWhole === false) return false;
    const form = resourceFileForm(path);
    if (form === undefined || (atStart && form === "json")) return false;
    return bytes >= longFile[form];
  }

  /**
   * Reads a file as `readResources` does. Takes over the memory of `bytes`.
   * @throws Error if the thread ends before it has read the file: it needed more memory than there is, or was closed
   */
  read(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<ResourceFile> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const read = this.#last.then(() => this.#readNext({ path, bytes }));
    this.#last = read
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
        if (this.#waiting > 0) return;
        this.#idle = setTimeout(() => this.#end(), idleMs).unref();
      });
    return read;
  }

  /** Ends the thread. A reading in progress fails. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#end();
  }

  async #readNext(file: { readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }): Promise<ResourceFile> {
    if (this.#isClosed) throw new Error("the source was closed");
    const worker = this.#worker ?? this.#start();
    const resources: PositionedResource[] = [];
    let request: ThreadRequest = file;
    let transferred: readonly ArrayBuffer[] = [file.bytes.buffer];
    // A program that waits for nothing else must not end before its file was read.
    worker.ref();
    try {
      for (;;) {
        worker.postMessage(request, transferred);
        const { resources: sent, end } = await answerOf<ThreadAnswer>(worker, "the thread that read it ended");
        for (const each of sent) resources.push(arrived(each, this.#options.types));
        if (end !== undefined) return { resources, ...end };
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

  #start(): Worker {
    const { registry, validate, envoy } = this.#options;
    const descriptorSet = registry && descriptorSetOf(registry);
    const start: ThreadStart = { descriptorSet, types: this.#types, validate, envoy };
    const worker = startThread(import.meta.url, "reading-main", "xdskit-read-file", start);
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

function arrived({ resource, where }: SentResource, types = resourceTypes): PositionedResource {
  const type = types.byTypeUrl(resource.type)?.type;
  if (type === undefined) throw new Error(`${resource.type} is no type of resources`);
  return { resource: { ...resource, type } as Resource, where };
}
