import type { Revision, Store } from "@xdskit/server";
import type { ApiLayer } from "../contract/admin-options.js";

/** A revision, and the store that has it. */
export interface FoundRevision {
  readonly revision: Revision;
  readonly store: Store;
}

/** How many revisions are read at a time to find a position in a history. */
const usualInPage = 100;

/** A revision in the history of several layers. */
interface Dated {
  readonly revision: Revision;
  /**
   * The time by which it is dated among those of other layers: its own, but not after that of a later revision of its
   * layer. Writers have several clocks, and say the time before they wait for each other.
   */
  readonly at: number;
}

/** The newest revisions of layers, or those that come after one in this order. Within a layer they are by number. */
export async function historyOf(
  layers: readonly Pick<ApiLayer, "layer" | "store">[],
  most: number,
  after: FoundRevision | undefined,
): Promise<readonly Revision[]> {
  const [only, ...others] = layers;
  if (only?.store !== undefined && others.length === 0 && (after?.revision.layer ?? only.layer) === only.layer)
    return only.store.history(only.layer, { limit: most, ...beforeThat(after?.revision) });
  const inPage = after === undefined ? most : Math.max(most, usualInPage);
  const start = after && (await datedOf(after, inPage));
  const found: Dated[] = [];
  for (const { layer, store } of layers) {
    let count = 0;
    for await (const one of store === undefined ? [] : dated(store, layer, inPage)) {
      if (start !== undefined && newestFirst(start, one) >= 0) continue;
      found.push(one);
      count += 1;
      if (count === most) break;
    }
  }
  const first = found.sort(newestFirst).slice(0, most);
  return first.map(({ revision }) => revision);
}

/** A layer's history, the newest first; read in pages. */
async function* dated(store: Store, layer: string, inPage: number): AsyncGenerator<Dated> {
  let at = Number.POSITIVE_INFINITY;
  let last: Revision | undefined;
  do {
    const page = await store.history(layer, { limit: inPage, ...beforeThat(last) });
    last = page.at(-1);
    for (const revision of page) {
      at = Math.min(at, revision.time);
      yield { revision, at };
    }
  } while (last !== undefined);
}

async function datedOf({ revision, store }: FoundRevision, inPage: number): Promise<Dated> {
  for await (const one of dated(store, revision.layer, inPage)) if (one.revision.id === revision.id) return one;
  // It is in no history any more.
  return { revision, at: revision.time };
}

function beforeThat(revision: Revision | undefined): { readonly before?: number } {
  return revision === undefined ? {} : { before: revision.number };
}

function newestFirst(a: Dated, b: Dated): number {
  const [one, other] = [a.revision, b.revision];
  const byLayer = one.layer < other.layer ? -1 : one.layer > other.layer ? 1 : 0;
  return b.at - a.at || byLayer || other.number - one.number;
}
