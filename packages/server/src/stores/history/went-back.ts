import type { Finding } from "@xdskit/api";
import type { Revision, Store } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { LatestWork } from "../basics/latest-work.js";
import { readAgainMs } from "../basics/paces.js";

/** A layer that has an older head in its store than was known. */
export interface WentBack {
  readonly layer: LayerName;
  readonly known: Revision;
  /** Undefined: the store does not have the layer. */
  readonly head: Revision | undefined;
}

/**
 * The layers whose heads went back, because the store was restored from a backup. `moved`: the heads that it told. It
 * may have told them before a newer one was written here, so it is asked where a known head is not among them.
 */
export async function whatWentBack(
  store: Pick<Store, "head">,
  knownHeads: readonly Revision[],
  moved: readonly Revision[],
): Promise<readonly WentBack[]> {
  const back: WentBack[] = [];
  for (const known of knownHeads) {
    const { layer } = known;
    const reported = moved.find((head) => head.layer === layer);
    if (reported !== undefined && (reported.id === known.id || reported.number > known.number)) continue;
    const head = await store.head(layer);
    if (head === undefined || (head.id !== known.id && head.number <= known.number)) back.push({ layer, known, head });
  }
  return back;
}

/** Tells people of it. */
export function wentBackFinding({ layer, known, head }: WentBack): Finding {
  const now = head === undefined ? "does not have it" : `has its revision ${head.number}`;
  const message = `layer ${layer} was at revision ${known.number}, and the store ${now}: was it restored from a backup?`;
  return { code: "XDSKIT_STORE", severity: "warning", message };
}

/** Hears of layers that went back. */
export interface WentBackListener {
  back(layers: readonly WentBack[]): void;
  failed(error: unknown): void;
}

/** Looks each time that a store tells its heads whether they went back. A look that failed is made again. */
export class WentBackLooks {
  readonly #looks: LatestWork<readonly Revision[]>;
  /** The heads that were looked at last. */
  #known: readonly Revision[] = [];

  constructor(store: Pick<Store, "head">, listener: WentBackListener) {
    this.#looks = new LatestWork(
      async (moved) => {
        const back = await whatWentBack(store, this.#known, moved);
        this.#known = moved;
        if (back.length > 0 && !this.#looks.isClosed) listener.back(back);
      },
      (error) => {
        listener.failed(error);
        return readAgainMs;
      },
    );
  }

  moved(heads: readonly Revision[]): void {
    this.#looks.take(heads);
  }

  close(): void {
    void this.#looks.close();
  }
}
