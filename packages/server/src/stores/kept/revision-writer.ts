import { setImmediate as nextTurn } from "node:timers/promises";
import { deferred, type Finding, XdskitError } from "@xdskit/api";
import { mergedUpdates } from "../../configuration/merged-updates.js";
import type { LayerUpdate } from "../../contracts/source.js";
import type { Cause, CommitInfo, LayerCommit, Revision } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { maxConflicts, writeAgainMs } from "../basics/paces.js";
import { storeFindings } from "../basics/store-finding.js";
import { Retaining } from "../history/retaining.js";
import { commitOf } from "../history/stored-content.js";
import type { KeptSourceOptions } from "./kept-options.js";
import { addedTo, type RevisionChanges } from "./lossless.js";
import type { ReportedRevisions } from "./reported-revisions.js";
import type { Rollbacks } from "./rollbacks.js";

/** The number of files that a revision names. */
const maxNamedFiles = 100;

interface RevisionWriterOptions
  extends Pick<KeptSourceOptions, "store" | "describe" | "retention" | "onProblem" | "ahead"> {
  readonly rollbacks: Rollbacks;
  readonly revisions: ReportedRevisions;
  /** A start did not know this rollback of another server, because the store was away. */
  readonly follow: (head: Revision) => void;
}

/**
 * `idle`: the next change is written at once. `writing`: so is what comes meanwhile, afterwards. `failed`: what could
 * not be written waits for the next change, or for its time. `paused`, `closed`: changes wait.
 */
type WriterState =
  | { readonly kind: "idle" | "paused" | "closed" }
  | { readonly kind: "writing"; readonly done: Promise<void> }
  | { readonly kind: "failed"; readonly retry: NodeJS.Timeout };

/**
 * Writes the changes of a source to the store, in order. Those that come while one is written share a revision as long
 * as it loses nothing that clients may come back with.
 */
export class RevisionWriter {
  readonly #options: RevisionWriterOptions;
  readonly #retaining: Retaining;
  #state: WriterState = { kind: "idle" };
  /** The changes that are not written yet, a revision each. */
  #pending: readonly RevisionChanges[] = [];
  /** A problem was told, and no commit has come after it. */
  #hasProblem = false;

  constructor(options: RevisionWriterOptions) {
    this.#options = options;
    this.#retaining = new Retaining(options);
  }

  get state(): WriterState["kind"] {
    return this.#state.kind;
  }

  /** The store has all changes, or will once what is being written is there. */
  get isUpToDate(): boolean {
    return this.#pending.length === 0;
  }

  /** Writes these changes, and those that wait. Call it in the turn in which they are applied. */
  keep(updates: readonly LayerUpdate[] = []): void {
    this.#writeAhead(updates);
    this.#pending = addedTo(this.#pending, updates);
    if (this.#pending.length === 0) return;
    if (this.#state.kind === "failed") clearTimeout(this.#state.retry);
    else if (this.#state.kind !== "idle") return;
    this.#state = { kind: "writing", done: this.#write() };
  }

  /** Writes these because of a problem, which is over with the next commit. */
  keepAgain(updates: readonly LayerUpdate[], why: readonly Finding[]): void {
    this.#options.onProblem(why);
    this.#hasProblem = true;
    this.keep(updates);
  }

  /** These come before the changes that wait. Writes nothing yet. */
  putFirst(update: LayerUpdate): void {
    const [first = [], ...rest] = this.#pending;
    this.#pending = [mergedUpdates([update], first), ...rest];
  }

  /** The store has another content of a layer now: what waits of it is over. */
  forget(layer: LayerName): void {
    const others = this.#pending.map((updates) => updates.filter((update) => update.layer !== layer));
    this.#pending = others.filter(({ length }) => length > 0);
  }

  /** Resolves once nothing is being written. */
  async written(): Promise<void> {
    while (this.#state.kind === "writing") await this.#state.done;
  }

  /** Writes nothing while the task runs. Undefined: it did not run, since the writer is not idle. */
  async alone<T>(task: () => Promise<T>): Promise<T | undefined> {
    if (this.#state.kind !== "idle") return undefined;
    const { promise: done, resolve: over } = deferred();
    this.#state = { kind: "writing", done };
    try {
      return await task();
    } finally {
      this.#state = { kind: "idle" };
      over();
    }
  }

  /** Writes what waits, unless it is paused, and then nothing more; `paused`: until `goOn`. */
  async stop(kind: "paused" | "closed"): Promise<void> {
    this.keep();
    await this.written();
    if (this.#state.kind === "failed") clearTimeout(this.#state.retry);
    this.#state = { kind };
    if (kind === "closed") await this.#retaining.close();
  }

  goOn(): void {
    if (this.#state.kind === "paused") this.#state = { kind: "idle" };
    this.keep();
  }

  async #write(): Promise<void> {
    const { describe, onProblem } = this.#options;
    let then: WriterState = { kind: "idle" };
    // Not in the turn in which streams are told.
    await nextTurn();
    while (this.#pending.length > 0) {
      const [updates = [], ...rest] = this.#pending;
      try {
        this.#pending = rest;
        const info = await describe(updates);
        if (info === undefined) {
          // No revision shows what is no good configuration.
          this.#pending = [[updates, ...this.#pending].reduce(mergedUpdates)];
          break;
        }
        await this.#commit(updates, info);
        if (this.#hasProblem) onProblem([]);
        this.#hasProblem = false;
      } catch (error) {
        this.#hasProblem = true;
        onProblem(storeFindings(error));
        // Later changes must not be kept without this one.
        this.#pending = [updates, ...this.#pending];
        then = { kind: "failed", retry: setTimeout(() => this.keep(), writeAgainMs).unref() };
        break;
      }
      this.#retaining.soon();
    }
    if (this.#pending.length === 0) this.#options.ahead?.clear();
    this.#state = then;
  }

  #writeAhead(updates: readonly LayerUpdate[]): void {
    try {
      this.#options.ahead?.append(updates);
    } catch (error) {
      this.#hasProblem = true;
      this.#options.onProblem(storeFindings(error));
    }
  }

  async #commit(updates: readonly LayerUpdate[], info: CommitInfo): Promise<void> {
    const { store, rollbacks, revisions, follow } = this.#options;
    const { ended } = rollbacks;
    for (let tries = 0; tries < maxConflicts; tries += 1) {
      const commits: LayerCommit[] = [];
      for (const update of updates) {
        const head = await store.head(update.layer);
        const commit = commitOf(update, head);
        if (head !== undefined && (await rollbacks.isFromBefore(store, head, commit))) {
          // A start did not know the rollback, because the store was away.
          follow(head);
          continue;
        }
        // Another server of the store may have ended it.
        const always = ended.has(update.layer) && head?.cause.kind === "rollback";
        commits.push({ ...commit, always, cause: causeOf(update, info) });
      }
      if (commits.length === 0) return;
      const result = await store.commit(commits, info);
      if (result.kind !== "committed") continue;
      rollbacks.endsKept(updates.map(({ layer }) => layer).filter((layer) => ended.has(layer)));
      for (const [index, { parent }] of commits.entries()) {
        const head = result.heads[index];
        if (head !== undefined && head.id !== parent) revisions.report(head);
      }
      return;
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${maxConflicts} times: a revision is missing`);
  }
}

/** Each layer names its own files, and not those of others that change with it. */
function causeOf({ files = [] }: LayerUpdate, { cause }: CommitInfo): Cause {
  if (cause.kind !== "files") return cause;
  return { ...cause, files: [...new Set(files)].sort().slice(0, maxNamedFiles) };
}
