import type { ApiClient } from "./api-client.js";
import type { ChangeAnswer, DiffAnswer, RevisionAnswer } from "./api-types.js";

/** A page of a list. */
interface Paged {
  readonly next?: string | undefined;
}

/** The items of a page, and of all pages behind it. */
export async function withFurther<Page extends Paged, Item>(
  first: Page,
  ask: (after: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items = [...itemsOf(first)];
  for (let after = first.next; after !== undefined; ) {
    const page = await ask(after);
    items.push(...itemsOf(page));
    after = page.next;
  }
  return items;
}

/** Changes of one page. */
const changesOfPage = 10_000;
/** Names in each list of a stage: all. */
const allNames = 1_000_000;

/**
 * Posts what changes a layer, or would, and resolves to the answer with all that it changes, whose further pages are
 * asked for. `dryRun`: nothing is changed, so the same is posted again for each page. `expected`: the head that the
 * layer must have, null for none; undefined: whatever it has.
 */
export async function postChange(
  client: ApiClient,
  path: "/api/v1/layers/{layer}/changes" | "/api/v1/layers/{layer}/rollback",
  layer: string,
  body: { readonly dryRun?: boolean | undefined },
  expected?: string | null,
): Promise<ChangeAnswer> {
  const headers = conditionOf(expected);
  const post = (after?: string) => client.post(path, { at: { layer }, query: pageQuery(after), body, headers });
  const page = await post();
  const { next, ...first } = page;
  if (next === undefined) return first;
  if (body.dryRun !== true && first.revision !== null)
    return { ...first, changed: (await revisionWithChanges(client, first.revision.id)).changes };
  return { ...first, changed: await withFurther(page, post, ({ changed }) => changed) };
}

/** All that differs between two revisions. */
export async function diffOf(client: ApiClient, from: string, to: string | undefined): Promise<DiffAnswer> {
  const get = (end: string | undefined, after?: string) =>
    client.get("/api/v1/diff", { query: { from, to: end, ...pageQuery(after) } });
  const page = await get(to);
  const { next: _, ...first } = page;
  // The head may have moved on.
  const further = (after: string) => get(first.to.id, after);
  return { ...first, changes: await withFurther(page, further, ({ changes }) => changes) };
}

/** Asks for a revision and all that it changed. */
export async function revisionWithChanges(client: ApiClient, id: string): Promise<RevisionAnswer> {
  const get = (after?: string) =>
    client.get("/api/v1/revisions/{id}", { at: { id }, query: { limit: changesOfPage, after } });
  const page = await get();
  const { next: _, ...first } = page;
  return { ...first, changes: await withFurther(page, get, ({ changes }) => changes) };
}

function conditionOf(expected: string | null | undefined): Readonly<Record<string, string>> {
  if (expected === undefined) return {};
  return expected === null ? { "if-none-match": "*" } : { "if-match": `"${expected}"` };
}

const pageQuery = (after: string | undefined) => ({ limit: changesOfPage, names: allNames, after });
