import type { Retention, Revision, RevisionId } from "../../contracts/stores/store.js";
import { isKept } from "./kept-revisions.js";
import { refer } from "./table-contents.js";
import { contentKey } from "./table-keys.js";
import { changesOf, revisionOf } from "./table-reading.js";
import type { Reader, Writer } from "./tables.js";

/** A revision that retention does not keep. */
interface OldRevision {
  /** Its key in `history`. */
  readonly key: string;
  readonly id: RevisionId;
  /** How many resources it changed. */
  readonly changes: number;
}

/** The revisions that retention does not keep: the oldest ones of each layer. */
export function oldIn(reader: Reader, retention: Retention): readonly OldRevision[] {
  const old: OldRevision[] = [];
  for (const [layerHash, headId] of reader.range<RevisionId>("heads", "")) {
    const head = revisionOf(reader, headId);
    let last: { readonly key: string; readonly one: Revision } | undefined;
    for (const [key, id] of reader.range<RevisionId>("history", layerHash)) {
      const next = revisionOf(reader, id);
      if (last !== undefined) {
        const { key, one } = last;
        if (isKept(retention, head, one, next)) break;
        old.push({ key, id: one.id, changes: one.upserted + one.removed });
      }
      last = { key, one: next };
    }
  }
  return old;
}

/** Removes what retention does not keep, within one transaction; returns how many revisions went. */
export function forgetOld(writer: Writer, retention: Retention): number {
  const old = oldIn(writer, retention);
  for (const { key, id } of old) forget(writer, key, id);
  return old.length;
}

/** Removes the oldest revision of a layer: what it replaced cannot be read any more. */
function forget(writer: Writer, historyKey: string, id: RevisionId): void {
  for (const { type, key, from } of changesOf(writer, id)) {
    if (from !== undefined) refer(writer, contentKey(type, key, from), -1);
  }
  for (const [part] of [...writer.range("changes", id)]) writer.remove("changes", part);
  writer.remove("history", historyKey);
  writer.remove("revisions", id);
}
