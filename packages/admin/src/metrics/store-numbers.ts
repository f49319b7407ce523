import { type Cause, type Revision, type Store, type StoreAway, storeFinding } from "@xdskit/server";

/** What became of a commit: another writer may have been sooner (`conflict`). */
type StoreResult = "committed" | "conflict" | "failed";

/** What a server knows of its store. */
export interface StoreNumbers {
  /** It cannot be read. */
  readonly isAway: boolean;
  /** The last commit failed: why, and since when commits do. */
  readonly failing: StoreAway | undefined;
  /** Of this server; milliseconds since 1970. Undefined: it made none. */
  readonly lastCommit: number | undefined;
  /** Of this server, since the start. */
  readonly commits: readonly { readonly cause: Cause["kind"]; readonly result: StoreResult; readonly count: number }[];
  /** The number of the newest revision of each layer, whoever made it. */
  readonly revisions: readonly { readonly layer: string; readonly number: number }[];
}

/**
 * The same store, and what passes through it in numbers. It asks the store nothing: it looks at commits, and hears what
 * others who watch it hear.
 */
export function countedStore(store: Store): { readonly store: Store; readonly numbers: () => StoreNumbers } {
  let isAway = false;
  let failing: StoreAway | undefined;
  let lastCommit: number | undefined;
  const commits = new Map<string, { readonly cause: Cause["kind"]; readonly result: StoreResult; count: number }>();
  const revisions = new Map<string, number>();
  const note = (cause: Cause["kind"], result: StoreResult) => {
    const key = `${cause} ${result}`;
    const row = commits.get(key) ?? { cause, result, count: 0 };
    row.count += 1;
    commits.set(key, row);
  };
  const see = (heads: readonly (Revision | undefined)[]) => {
    for (const head of heads) if (head !== undefined) revisions.set(head.layer, head.number);
  };
  const commit: Store["commit"] = async (layers, info) => {
    try {
      const result = await store.commit(layers, info);
      note(info.cause.kind, result.kind);
      failing = undefined;
      if (result.kind === "committed") {
        lastCommit = Date.now();
        see(result.heads);
      }
      return result;
    } catch (error) {
      note(info.cause.kind, "failed");
      failing = { since: failing?.since ?? Date.now(), finding: storeFinding(error) };
      throw error;
    }
  };
  const watch: Store["watch"] = (listener) =>
    store.watch({
      moved(heads) {
        isAway = false;
        see(heads);
        listener.moved(heads);
      },
      away(finding) {
        isAway = true;
        listener.away(finding);
      },
    });
  return {
    store: {
      name: store.name,
      shared: store.shared,
      heads: () => store.heads(),
      head: (layer) => store.head(layer),
      revision: (id) => store.revision(id),
      history: (layer, page) => store.history(layer, page),
      read: (id) => store.read(id),
      versions: (id) => store.versions(id),
      changes: (id) => store.changes(id),
      content: (type, key, version) => store.content(type, key, version),
      commit,
      retain: (retention) => store.retain(retention),
      watch,
      close: () => store.close(),
    },
    numbers: () => ({
      isAway,
      failing,
      lastCommit,
      commits: [...commits.values()],
      revisions: Array.from(revisions, ([layer, number]) => ({ layer, number })),
    }),
  };
}
