import { XdskitError } from "@xdskit/api";
import type { Revision, RevisionId, StoredChange } from "../../contracts/stores/store.js";
import { damaged } from "../basics/damage.js";
import type { Reader } from "./tables.js";

/** The changes of a revision. */
export function changesOf(reader: Reader, id: RevisionId): readonly StoredChange[] {
  const parts = [...reader.range<readonly StoredChange[]>("changes", id)].flatMap(([, part]) => part);
  return parts.map(({ type, key, from, to }) => ({ type, key, from, to }));
}

/** The head of a layer. */
export function headOf(reader: Reader, layerHash: string): Revision | undefined {
  const id = reader.get<RevisionId>("heads", layerHash);
  return id === undefined ? undefined : revisionOf(reader, id);
}

/** A revision, if it is there. */
export function findRevision(reader: Reader, id: RevisionId): Revision | undefined {
  const found = reader.get<Revision>("revisions", id);
  // JSON knows no undefined.
  return found === undefined ? undefined : { ...found, parent: found.parent };
}

/** A revision that another table names. */
export function revisionOf(reader: Reader, id: RevisionId): Revision {
  const revision = findRevision(reader, id);
  if (revision === undefined) throw damaged(`there is no revision ${id}`);
  return revision;
}

/** A revision that a caller names. */
export function known(reader: Reader, id: RevisionId): Revision {
  const revision = findRevision(reader, id);
  if (revision === undefined)
    throw XdskitError.of("XDSKIT_REVISION_UNKNOWN", `there is no revision ${id.slice(0, 100)}`);
  return revision;
}
