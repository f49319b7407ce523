import type { Retention } from "../../contracts/store.js";

/** What history to keep now. */
export function retentionNow({ retention }: { readonly retention: Retention | (() => Retention) }): Retention {
  return typeof retention === "function" ? retention() : retention;
}
