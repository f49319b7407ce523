import { ApiProblem } from "../contract/problem.js";

/**
 * The tag that a request expects: null for `If-None-Match: *`, which wants nothing to be there; undefined: whatever is
 * there. `any`: something must be there.
 */
export type ExpectedTag = string | null | "any" | undefined;

/** The state that `If-Match` and `If-None-Match` ask for. Lists are not read: a writer knows one state. */
export function expectedTag(headers: Headers): ExpectedTag {
  const none = headers.get("if-none-match");
  if (none !== null) {
    if (none.trim() === "*") return null;
    throw ApiProblem.of(400, "XDSKIT_API_REQUEST", "If-None-Match: only * is understood");
  }
  const match = headers.get("if-match")?.trim();
  if (match === undefined) return undefined;
  if (match === "*") return "any";
  const tag = /^(?:W\/)?"([^"]*)"$/.exec(match)?.[1];
  if (tag === undefined || tag === "any")
    throw ApiProblem.of(400, "XDSKIT_API_REQUEST", 'If-Match: expected one tag in quotes, such as "3f…"');
  return tag;
}
