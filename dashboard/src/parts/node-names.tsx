import { linkTo } from "../router.js";
import { numberText } from "../text/counts.js";

/** So many are named. */
const maxNames = 5;

/** The first of some nodes, with links, and how many more there are. `rest`: what is said of those. */
export function NodeNames({ ids, rest = "more" }: { readonly ids: readonly string[]; readonly rest?: string }) {
  return (
    <>
      {ids.slice(0, maxNames).map((id) => (
        <span key={id}>
          <a href={linkTo("node", [id])}>{id}</a>{" "}
        </span>
      ))}
      {ids.length > maxNames ? (
        <span class="quiet">
          and {numberText(ids.length - maxNames)} {rest}
        </span>
      ) : null}
    </>
  );
}
