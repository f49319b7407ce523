import type { Revision } from "@xdskit/server";
import type { RevisionJson } from "../contract/answers.js";

/** A revision as JSON. `layer` is the name of its layer in the API. */
export function revisionJson(revision: Revision, layer: string): RevisionJson {
  const { id, parent = null, number, time, author, cause, message, upserted, removed } = revision;
  const at = new Date(time).toISOString();
  return { id, layer, parent, number, time: at, author, cause: { ...cause }, message, upserted, removed };
}
