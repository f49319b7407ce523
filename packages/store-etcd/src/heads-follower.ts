import type { Finding } from "@xdskit/api";
import type { HeadsListener, Revision, RevisionId } from "@xdskit/server";
import { storeFinding } from "@xdskit/server";
import { eachAtOnce } from "./in-parts.js";
import type { WatchedState } from "./state-reader.js";
import type { StateListener } from "./watching.js";

const text = new TextDecoder();

/** After so many milliseconds it is tried again to read what a head is. */
const retryMs = 1_000;

/** Tells of heads with their revisions. Those are read once: they never change. */
export class HeadsFollower implements StateListener {
  readonly #read: (id: RevisionId) => Promise<Revision>;
  readonly #listener: HeadsListener;
  #known = new Map<RevisionId, Revision>();
  /** Those that must still be told. */
  #newest: WatchedState["heads"] | undefined;
  #retry: NodeJS.Timeout | undefined;
  #telling = false;
  #isAway = false;
  #isClosed = false;

  constructor(read: (id: RevisionId) => Promise<Revision>, listener: HeadsListener) {
    this.#read = read;
    this.#listener = listener;
  }

  changed({ heads }: WatchedState): void {
    clearTimeout(this.#retry);
    this.#newest = heads;
    if (!this.#telling) void this.#tell();
  }

  away(finding: Finding): void {
    if (this.#isClosed || this.#isAway) return;
    this.#isAway = true;
    this.#listener.away(finding);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  async #tell(): Promise<void> {
    this.#telling = true;
    while (this.#newest !== undefined && !this.#isClosed) {
      const heads = this.#newest;
      this.#newest = undefined;
      try {
        const ids = heads.map(({ value }) => text.decode(value));
        const revisions = await eachAtOnce(ids, async (id) => this.#known.get(id) ?? (await this.#read(id)));
        this.#known = new Map(revisions.map((revision) => [revision.id, revision]));
        if (this.#isClosed) break;
        this.#isAway = false;
        this.#listener.moved(revisions.toSorted((a, b) => (a.layer < b.layer ? -1 : 1)));
      } catch (error) {
        this.#readLater(heads, error);
      }
    }
    this.#telling = false;
  }

  /** Where a newer state has come, that is told instead: retention may have removed what an older head was. */
  #readLater(heads: WatchedState["heads"], error: unknown): void {
    if (this.#newest !== undefined || this.#isClosed) return;
    this.away(storeFinding(error));
    this.#retry = setTimeout(() => this.changed({ heads, shared: [] }), retryMs).unref();
  }
}
