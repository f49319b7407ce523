import { listNames } from "@xdskit/api";
import type { ApiClient } from "./api-client.js";
import { ApiError } from "./api-error.js";
import type { RevisionJson } from "./api-types.js";
import { pageSize } from "./list-resources.js";

/** Shorter beginnings of an id could be anything. */
const shortest = 4;
/** The most pages of revisions that are looked through. */
const maxPages = 1_000;

interface RevisionsPage {
  readonly revisions: readonly RevisionJson[];
  readonly next?: string | null;
}

/** A page of revisions, newest first. */
export function revisionsPage(
  client: ApiClient,
  query: { readonly layer?: string | undefined; readonly limit?: number; readonly after?: string | undefined },
): Promise<RevisionsPage> {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) asked.set(key, String(value));
  return client.get(`/api/v1/revisions?${asked}`);
}

/**
 * Finds a revision by its id, or by the beginning of it, if no other revision begins with that. Rejects with an
 * ApiError if there is none, or more than one.
 */
export async function findRevision(client: ApiClient, text: string): Promise<RevisionJson> {
  const exact = await client
    .get<RevisionJson>(`/api/v1/revisions/${encodeURIComponent(text)}`)
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404 && error.code === "XDSKIT_REVISION_UNKNOWN")
        return undefined;
      throw error;
    });
  if (exact !== undefined) return exact;
  const found = text.length < shortest ? [] : await beginningWith(client, text);
  const [first, ...more] = found;
  if (first === undefined) {
    const hint = text.length < shortest ? ` (the beginning of an id needs ${shortest} characters)` : "";
    throw new ApiError(`there is no revision "${text}"${hint}: "xdskit history" lists what there is`);
  }
  if (more.length === 0) return first;
  const ids = listNames(found.map(({ id }) => id));
  throw new ApiError(`more than one revision begins with "${text}": ${ids}`);
}

async function beginningWith(client: ApiClient, text: string): Promise<readonly RevisionJson[]> {
  const found: RevisionJson[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { revisions, next } = await revisionsPage(client, { limit: pageSize, after });
    found.push(...revisions.filter(({ id }) => id.startsWith(text)));
    if (next == null || found.length > 5) break;
    after = next;
  }
  return found;
}
