import { deferred, type Finding } from "@xdskit/api";
import type { StoreWatch } from "../../contracts/stores/shared-keys.js";
import type { Revision, Store } from "../../contracts/stores/store.js";

interface HeadsTaker {
  /** Takes the heads that the store tells. Resolves once it has, or cannot. */
  take(heads: readonly Revision[]): Promise<void>;
  away(finding: Finding): void;
}

/** `first` resolves once what the store told first is taken, or once it says that it is away. */
export function watchHeads(
  store: Pick<Store, "watch">,
  { take, away }: HeadsTaker,
): { readonly watch: StoreWatch; readonly first: Promise<void> } {
  const { promise: first, resolve: tell } = deferred();
  const watch = store.watch({
    moved: (heads) => void take(heads).then(tell),
    away: (finding) => {
      away(finding);
      tell();
    },
  });
  return { watch, first };
}
