import { listNames } from "@xdskit/api";
import type { ApiClient } from "./api-client.js";
import { ApiError } from "./api-error.js";
import type { RevisionJson, RevisionList } from "./api-types.js";
import { pageSize } from "./list-resources.js";

/** Shorter beginnings of an id could be anything. */
const shortest = 4;
/** The most pages of revisions that are looked through. */
const maxPages = 1_000;

/** A page of revisions, newest first. */
export function revisionsPage(
  client: ApiClient,
  query: { readonly layer?: string | undefined; readonly limit?: number; readonly after?: string | undefined },
): Promise<RevisionList> {
  return client.get("/api/v1/revisions", { query });
}

/** `7`, `#7`, `api#7`, as `status` and `history` tell them. */
const numbered = /^(?:([^#]*)#)?(\d{1,9})$/;

/**
 * Finds a revision by its id, by the beginning of it, or by its number, if it is the only one. Rejects with an ApiError
 * if there is none, or more than one.
 */
export async function findRevision(client: ApiClient, text: string): Promise<RevisionJson> {
  const exact = await client.get("/api/v1/revisions/{id}", { at: { id: text } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404 && error.code === "XDSKIT_REVISION_UNKNOWN") return undefined;
    throw error;
  });
  if (exact !== undefined) return exact;
  const [, ofLayer, number] = numbered.exec(text) ?? [];
  const isNumbered = ({ layer, number: own }: RevisionJson) => own === Number(number) && (ofLayer || layer) === layer;
  let found = number === undefined ? [] : await those(client, isNumbered);
  if (found.length === 0 && text.length >= shortest) found = await those(client, ({ id }) => id.startsWith(text));
  const [first, ...more] = found;
  if (first === undefined) {
    const isShort = number === undefined && text.length < shortest;
    const hint = isShort ? ` (the beginning of an id needs ${shortest} characters)` : "";
    throw new ApiError(`there is no revision "${text}"${hint}: "xdskit history" lists what there is`);
  }
  if (more.length === 0) return first;
  if (found.every(isNumbered)) {
    const all = listNames(found.map(({ layer }) => `${layer}#${number}`));
    throw new ApiError(`more than one layer has a revision ${number}: name one of ${all}`);
  }
  const ids = listNames(found.map(({ id }) => id));
  throw new ApiError(`more than one revision begins with "${text}": ${ids}`);
}

async function those(
  client: ApiClient,
  isAsked: (revision: RevisionJson) => boolean,
): Promise<readonly RevisionJson[]> {
  const found: RevisionJson[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { revisions, next } = await revisionsPage(client, { limit: pageSize, after });
    found.push(...revisions.filter(isAsked));
    if (next === undefined || found.length > 5) break;
    after = next;
  }
  return found;
}
