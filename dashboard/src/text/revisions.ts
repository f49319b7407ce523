import type { NodeRow } from "../api/types.js";

/** `#7`, or `before #7`; of several layers `folder #7, api before #3`. Empty: nothing is known. */
export function revisionsText(revisions: NodeRow["revisions"] = []): string {
  const isOne = revisions.length === 1;
  return revisions
    .map(({ layer, number, isBefore }) =>
      [...(isOne ? [] : [layer]), ...(isBefore ? ["before"] : []), `#${number}`].join(" "),
    )
    .join(", ");
}
