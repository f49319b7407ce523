import type { Resource, Where } from "@xdskit/api";
import { callListener } from "../../basics/call-listener.js";
import type { Source, SourceSink } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";
import { FolderContents } from "./folder-contents.js";
import type { FolderSourceOptions } from "./folder-options.js";
import { FolderPublication } from "./folder-publication.js";
import { FolderReader } from "./folder-reader.js";
import { fullFolderOptions } from "./full-folder-options.js";
import { FolderWatcher } from "./scanning/folder-watcher.js";
import { pollWaitMs } from "./scanning/poll-wait.js";
import { Settling } from "./scanning/settling.js";

/**
 * A source that serves the resource files of a folder and follows its changes.
 *
 * - All or nothing: while any file has an error, the last good configuration stays and the errors are reported. If
 *   nothing is served yet, `start` does not resolve until they are fixed: clients would drop the resources that the
 *   files with errors had before a restart. With `allowPartial` the files without errors are served meanwhile, and no
 *   change is applied until all are valid. With `onInvalid: "skip"` only resources with errors are skipped; errors of
 *   folders refuse a change as before.
 * - `start` rejects with an XdskitError if the directory is missing or none of its files is valid, unless `allowEmpty`.
 *   If none of the folders of one of the `groups` exists, it waits until one does.
 * - Swapping a symbolic link, the directory itself or one in it, is one change; so are all changes within the settling
 *   time.
 * - A folder that vanishes leaves the last good configuration; so does one that loses its last file, unless
 *   `allowEmpty`.
 *
 * @throws XdskitError XDSKIT_FOLDER_OPTION for an invalid option
 *
 * @example
 * ```ts
 * import { createFolderSource, createServer } from "@xdskit/server";
 *
 * const server = createServer();
 * await server.addSource(createFolderSource({ directory: "./config" }));
 * await server.listen({ grpc: "127.0.0.1:18000" });
 * ```
 */
export function createFolderSource(options: FolderSourceOptions): Source {
  return new FolderSource(options);
}

class FolderSource implements Source {
  readonly name: string;
  readonly #pollMs: number | undefined;
  readonly #onRead: FolderSourceOptions["onRead"];
  readonly #publish: (sink: SourceSink) => FolderPublication;
  readonly #reader: FolderReader;
  readonly #watcher: FolderWatcher;
  readonly #settling: Settling;
  readonly #contents: FolderContents;
  readonly #closing = new AbortController();
  #publication: FolderPublication | undefined;
  #sink: SourceSink | undefined;
  /** The running work: a reading or a look at the metadata, never two at once. */
  #work: Promise<void> | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  /** Lets `start` check again whether it is done. */
  #wake: () => void = () => {};

  constructor(options: FolderSourceOptions) {
    const full = fullFolderOptions(options);
    const { settleMs, maxSettleMs } = full;
    const contents = new FolderContents(full, () => this.retry());
    this.name = `folder ${full.directory}`;
    this.#pollMs = full.pollMs;
    this.#onRead = options.onRead;
    this.#contents = contents;
    this.#watcher = new FolderWatcher(() => this.#settle());
    this.#reader = new FolderReader(full, this.#closing.signal, contents, this.#watcher);
    this.#settling = new Settling(settleMs, maxSettleMs, (since) => this.#runAlone(() => this.#update(since)));
    this.#publish = (sink) => new FolderPublication(full, contents, sink, this.#closing.signal);
  }

  async start(sink: SourceSink): Promise<void> {
    if (this.#publication !== undefined) throw new Error(`${this.name} was started before`);
    const publication = this.#publish(sink);
    this.#publication = publication;
    this.#sink = sink;
    let problem: { readonly error: unknown } | undefined;
    await this.#run(() =>
      this.#update(performance.now()).catch((error: unknown) => {
        problem = { error };
      }),
    );
    if (problem !== undefined) {
      await this.close();
      throw problem.error;
    }
    this.#planPoll(0);
    while (!publication.started && !this.#closing.signal.aborted) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    if (this.#closing.signal.aborted) throw new Error(`${this.name} was closed while it started`);
  }

  retry(): void {
    if (this.#closing.signal.aborted) return;
    this.#runAlone(async () => {
      // Files that change now are one change. Once they are quiet, what was refused is applied with them.
      if (this.#watcher.pending) this.#settling.touch();
      if (!this.#settling.pending) await this.#update(performance.now());
    });
  }

  /** The file of a resource, as changes name it: below the folder. */
  fileOf(layer: LayerName, resource: Pick<Resource, "type" | "key">): string | undefined {
    return this.#contents.fileOf(layer, resource);
  }

  whereIs(layer: LayerName, resource: Pick<Resource, "type" | "key">): Where | undefined {
    return this.#contents.whereIs(layer, resource);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    this.#settling.stop();
    clearTimeout(this.#pollTimer);
    this.#contents.close();
    await this.#work;
    this.#watcher.close();
    this.#sink?.ended?.();
  }

  #settle(): void {
    // The reader sees changes that happen while files are read; the rest is handled afterwards.
    if (this.#work === undefined) this.#settling.touch();
  }

  /** One after the other. */
  async #run(work: () => Promise<void>): Promise<void> {
    const run = (this.#work ?? Promise.resolve()).then(async () => {
      if (!this.#closing.signal.aborted) await work();
    });
    const done = run.catch(() => {});
    this.#work = done;
    // Also after a fault: callers that wait for the end of the work would wait for ever.
    await done;
    if (this.#work === done) {
      this.#work = undefined;
      if (this.#watcher.pending) this.#settle();
    }
    await run;
  }

  /** No caller waits for it: an unexpected fault must not end the process, nor the watching. */
  #runAlone(work: () => Promise<void>): void {
    this.#run(work).catch((error: unknown) => {
      process.emitWarning(`${this.name}: ${String(error)}`, "XdskitWarning");
    });
  }

  async #update(since: number): Promise<void> {
    const started = performance.now();
    const round = await this.#reader.read(since, this.#publication?.started !== true);
    if (this.#closing.signal.aborted) return;
    const summary = await this.#publication?.publish(round, this.#watcher.refused, started);
    if (this.#closing.signal.aborted) return;
    const onRead = this.#onRead;
    if (summary !== undefined && onRead !== undefined) callListener("onRead", () => onRead(summary));
    if (!round.whole) this.#settling.touch();
    this.#wake();
  }

  #planPoll(lastTookMs: number): void {
    const waitMs = this.#pollMs ?? pollWaitMs(lastTookMs);
    if (waitMs === 0 || this.#closing.signal.aborted) return;
    this.#pollTimer = setTimeout(() => {
      if (this.#work !== undefined || this.#settling.pending) this.#planPoll(lastTookMs);
      else this.#runAlone(() => this.#poll());
    }, waitMs);
  }

  async #poll(): Promise<void> {
    const started = performance.now();
    try {
      if (await this.#reader.differs()) {
        this.#reader.distrust();
        this.#settling.touch();
      }
    } finally {
      this.#planPoll(performance.now() - started);
    }
  }
}
