import type { Snapshot } from "@xdskit/protocol";
import { changesBetween } from "../rollouts/overrides.js";
import type { PackedView, ToWorker } from "./messages.js";
import type { Packing } from "./packed-resources.js";

/** The views that the streams of one worker have, each told to it once. */
export interface StreamViews {
  /** The number of what `snapshot` has differently from the newest of its group: 0 where that is nothing. */
  of(newest: Snapshot, snapshot: Snapshot): number;
  /** A stream has another view now; undefined: none, before it came and after it left. */
  moved(from: number | undefined, to: number | undefined): void;
}

export function createStreamViews(packing: Packing, post: (message: ToWorker) => void): StreamViews {
  const byContent = new Map<string, number>();
  const known = new Map<number, { readonly content: string; streams: number }>();
  /** Streams of one view have the same snapshot. */
  const bySnapshot = new WeakMap<Snapshot, { readonly newest: Snapshot; readonly view: number }>();
  let lastId = 0;

  function define(overrides: PackedView["overrides"]): number {
    if (overrides.length === 0) return 0;
    const content = overrides.map(({ type, key, resource }) => `${type} ${key} ${resource?.version}`).join("\n");
    let id = byContent.get(content);
    if (id === undefined) {
      lastId += 1;
      id = lastId;
      byContent.set(content, id);
      known.set(id, { content, streams: 0 });
      post({ kind: "view", view: { id, overrides } });
    }
    return id;
  }

  function add(view: number | undefined, streams: number): void {
    const entry = view === undefined ? undefined : known.get(view);
    if (view === undefined || entry === undefined) return;
    entry.streams += streams;
    if (entry.streams > 0) return;
    known.delete(view);
    byContent.delete(entry.content);
    post({ kind: "view-gone", id: view });
  }

  return {
    of(newest, snapshot) {
      if (newest === snapshot) return 0;
      const found = bySnapshot.get(snapshot);
      if (found?.newest === newest && (found.view === 0 || known.has(found.view))) return found.view;
      const overrides = Array.from(changesBetween(newest, snapshot), ({ type, key, after }) => {
        return { type: type.typeUrl, key, resource: after && packing.pack(after) };
      });
      const view = define(overrides);
      bySnapshot.set(snapshot, { newest, view });
      return view;
    },
    moved(from, to) {
      add(to, 1);
      add(from, -1);
    },
  };
}
