import type { Finding } from "@xdskit/api";
import type { HeadsListener, Revision, RevisionId } from "@xdskit/server";
import { storeFinding } from "@xdskit/server";
import { LatestWork, readAgainMs } from "@xdskit/server/tables";
import type { KeyValue } from "./client/messages.js";
import { eachAtOnce } from "./in-parts.js";
import type { EntriesListener } from "./watching.js";

const text = new TextDecoder();

/**
 * Tells of heads with their revisions. Those are read once: they never change. Where a newer state has come, that is
 * told instead: retention may have removed what an older head was.
 */
export class HeadsFollower implements EntriesListener {
  readonly #listener: HeadsListener;
  readonly #tells: LatestWork<readonly KeyValue[]>;
  #known = new Map<RevisionId, Revision>();
  #isAway = false;

  constructor(read: (id: RevisionId) => Promise<Revision>, listener: HeadsListener) {
    this.#listener = listener;
    this.#tells = new LatestWork(
      async (heads) => {
        const ids = heads.map(({ value }) => text.decode(value));
        const revisions = await eachAtOnce(ids, async (id) => this.#known.get(id) ?? (await read(id)));
        this.#known = new Map(revisions.map((revision) => [revision.id, revision]));
        if (this.#tells.isClosed) return;
        this.#isAway = false;
        listener.moved(revisions.toSorted((a, b) => (a.layer < b.layer ? -1 : 1)));
      },
      (error) => {
        this.away(storeFinding(error));
        return readAgainMs;
      },
    );
  }

  entriesChanged(heads: readonly KeyValue[]): void {
    this.#tells.take(heads);
  }

  away(finding: Finding): void {
    if (this.#tells.isClosed || this.#isAway) return;
    this.#isAway = true;
    this.#listener.away(finding);
  }

  close(): void {
    void this.#tells.close();
  }
}
