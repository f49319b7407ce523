import { printable } from "@xdskit/api";
import type { Paint } from "../output/colours.js";
import { type ChangeKind, kindOf, type ShownChange } from "./shown-change.js";

const kinds: readonly ChangeKind[] = ["added", "changed", "removed"];

const signs = { added: "+", changed: "~", removed: "-" } as const;

/** A line for each resource: `+ cluster "web"`. */
export function changeLines(changes: readonly ShownChange[], paint: Paint): string {
  const lines = changes.map((change) => {
    const { type, name } = change;
    const kind = kindOf(change);
    const line = printable(`${signs[kind]} ${type} ${JSON.stringify(name)}`);
    return kind === "changed" ? line : paint(kind, line);
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** `2 added, 1 removed`; `nothing changes` for none. */
export function changeCounts(changes: readonly ShownChange[]): string {
  const counts = kinds.map((kind) => [changes.filter((change) => kindOf(change) === kind).length, kind] as const);
  const reported = counts.filter(([count]) => count > 0).map(([count, kind]) => `${count} ${kind}`);
  return reported.length === 0 ? "nothing changes" : reported.join(", ");
}
