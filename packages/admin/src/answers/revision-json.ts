import type { z } from "@hono/zod-openapi";
import type { Revision } from "@xdskit/server";
import type { revisionSchema } from "../contract/schemas.js";

/** A revision as JSON. */
export type RevisionJson = z.output<typeof revisionSchema>;

/** `layer` is the name of its layer in the API. */
export function revisionJson(revision: Revision, layer: string): RevisionJson {
  const { id, parent = null, number, time, author, cause, message, upserted, removed } = revision;
  const at = new Date(time).toISOString();
  return { id, layer, parent, number, time: at, author, cause: { ...cause }, message, upserted, removed };
}
