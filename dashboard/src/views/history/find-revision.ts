import { get } from "../../api/request.js";
import type { RevisionJson } from "../../api/types.js";

/** A page of history. */
export interface RevisionPage {
  readonly revisions: readonly RevisionJson[];
  readonly next?: string;
}

const pageSize = 1_000;
/** Nobody keeps more. */
const maxPages = 50;

/** What somebody types to name a revision: `folder 12`, or the beginning of its id. */
export function isNamed({ id, layer, number }: RevisionJson, text: string): boolean {
  const wanted = text.trim();
  return wanted === `${layer} ${number}` || (wanted.length >= 4 && id.startsWith(wanted));
}

/** Finds a revision, also one that is not listed yet. Undefined: there is none. */
export async function findRevision(text: string, listed: readonly RevisionJson[]): Promise<RevisionJson | undefined> {
  const known = listed.find((one) => isNamed(one, text));
  if (known !== undefined) return known;
  let after: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(after === undefined ? {} : { after }) });
    const { revisions, next } = await get<RevisionPage>(`revisions?${query}`);
    const found = revisions.find((one) => isNamed(one, text));
    if (found !== undefined || next === undefined) return found;
    after = next;
  }
  return undefined;
}
