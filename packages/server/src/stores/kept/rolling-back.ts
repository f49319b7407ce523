import { setTimeout as delay } from "node:timers/promises";
import { type Resource, throwIfAny, XdskitError } from "@xdskit/api";
import type { LayerUpdate, RolledBack } from "../../contracts/source.js";
import type { LayerWritten } from "../../contracts/stores/layer-writer.js";
import type { Revision, RevisionId } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { readAgainMs } from "../basics/paces.js";
import { Queue } from "../basics/queue.js";
import { storeFindings } from "../basics/store-finding.js";
import { commitOf, decodeStored } from "../history/stored-content.js";
import type { KeptSourceOptions, RollbackTerms } from "./kept-options.js";
import type { ReportedRevisions } from "./reported-revisions.js";
import type { RevisionWriter } from "./revision-writer.js";
import { ownBefore, type Rollbacks, rolledBackBy } from "./rollbacks.js";

interface RollingBackOptions extends Pick<KeptSourceOptions, "store" | "registry" | "types" | "check" | "onProblem"> {
  readonly rollbacks: Rollbacks;
  readonly revisions: ReportedRevisions;
  readonly writer: RevisionWriter;
  /** What earlier processes left is kept, and their rollbacks are known: both come before a new rollback. */
  readonly loaded: () => Promise<void> | undefined;
  /** `isJudged`: false of what another server has judged. */
  readonly serve: (update: LayerUpdate, how?: { readonly isJudged: boolean }) => void;
  /** Other layers serve an older revision now. */
  readonly onChanged: () => void;
}

/** Rolls layers of a source back: here, and where another server of the store has done it. */
export class RollingBack {
  readonly #options: RollingBackOptions;
  readonly #queue = new Queue();
  /** Rollbacks by other servers that are not served here yet. */
  readonly #following = new Set<RevisionId>();

  constructor(options: RollingBackOptions) {
    this.#options = options;
  }

  /** See `KeptSource.rollBack`. */
  rollBack(layer: LayerName, to: RevisionId, terms: RollbackTerms): Promise<LayerWritten> {
    const { writer, loaded } = this.#options;
    return this.#queue.run(async () => {
      await loaded();
      if (writer.state === "paused")
        throw XdskitError.of("XDSKIT_BUSY", "the settings of this layer are changing now: try again in a moment");
      try {
        return await this.#rollBack(layer, to, terms);
      } finally {
        writer.keep();
      }
    });
  }

  /** Pauses the writer once no rollback is under way. */
  async pause(): Promise<void> {
    await this.#queue.run(() => this.#options.writer.stop("paused"));
  }

  async close(): Promise<void> {
    await this.#queue.close();
  }

  /**
   * Serves a rollback that another server has made, in its turn; heads that are none are left out. One that cannot be
   * read now is read later: the store may not tell of it again.
   */
  async follow(head: Revision): Promise<void> {
    const rolledBack = rolledBackBy(head);
    if (rolledBack === undefined || this.#following.has(head.id)) return;
    this.#following.add(head.id);
    const isKnown = () => this.#options.rollbacks.knows(head.layer, head.id);
    for (let tries = 0; !this.#queue.isClosed && !isKnown(); tries += 1) {
      try {
        await this.#queue.run(() => this.#follow(head, rolledBack));
        break;
      } catch (error) {
        if (this.#queue.isClosed) break;
        if (tries === 0) this.#options.onProblem(storeFindings(error));
        await delay(readAgainMs, undefined, { ref: false });
      }
    }
    this.#following.delete(head.id);
  }

  async #follow(head: Revision, rolledBack: RolledBack): Promise<void> {
    const { store, rollbacks, revisions, writer, serve, onChanged } = this.#options;
    // What is not kept yet comes first: if the source has changed since, that ends the rollback.
    writer.keep();
    await writer.written();
    const { changes } = rollbacks;
    if (writer.state === "paused" || rollbacks.knows(head.layer, head.id)) return;
    if ((await store.head(head.layer))?.id !== head.id) return;
    const own = await ownBefore(store, head);
    const upsert = await this.#contents(head.id);
    // The source has changed since: its next revision ends the rollback.
    if (own === undefined || rollbacks.changes !== changes || !writer.isUpToDate) return;
    serve({ layer: head.layer, kind: "replace", upsert }, { isJudged: false });
    rollbacks.begin(
      rolledBack,
      own.map((stored) => decodeStored(stored, this.#options)),
      upsert,
    );
    revisions.report(head);
    onChanged();
  }

  async #rollBack(
    layer: LayerName,
    to: RevisionId,
    { expected, condition, info }: RollbackTerms,
  ): Promise<LayerWritten> {
    const { store, check, rollbacks, revisions, writer, serve, onChanged } = this.#options;
    const upsert = await this.#contents(to);
    await writer.written();
    if (!writer.isUpToDate)
      throw XdskitError.of("XDSKIT_STORE", "the newest change is not kept yet: there is nothing to come back to");
    const { changes } = rollbacks;
    const head = await store.head(layer);
    if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
    const own =
      rollbacks.ownOf(layer) ??
      rollbacks.ownBeforeStart(layer) ??
      (head === undefined ? [] : await this.#contents(head.id));
    const conflict = { kind: "conflict", head } as const;
    if (rollbacks.changes !== changes) return conflict;
    const update = { layer, kind: "replace", upsert } as const;
    const written = await writer.alone(async (): Promise<LayerWritten> => {
      condition?.();
      throwIfAny(check?.([update]) ?? []);
      const result = await store.commit([commitOf(update, head)], info);
      if (result.kind === "conflict") return result;
      const [made] = result.heads;
      if (made === undefined || made.id === head?.id) return { kind: "written", head: made, isNew: false };
      // Until the rollback is served, what the source has must come after it.
      writer.putFirst({ layer, kind: "replace", upsert: own });
      if (rollbacks.changes !== changes) {
        // The source was faster. What it has is served, and becomes the newest revision. This one stays in history.
        revisions.report(made);
        rollbacks.end(layer);
        return { kind: "conflict", head: made };
      }
      serve(update);
      writer.forget(layer);
      revisions.report(made);
      rollbacks.begin({ layer, revision: made.id, to, time: made.time }, own, upsert);
      onChanged();
      return { kind: "written", head: made, isNew: true };
    });
    return written ?? conflict;
  }

  async #contents(id: RevisionId): Promise<readonly Resource[]> {
    return (await this.#options.store.read(id)).map((stored) => decodeStored(stored, this.#options));
  }
}
