import { listNames, printable } from "@xdskit/api";
import { everyNode } from "@xdskit/server";
import { changeText } from "../asking/output/change-text.js";
import type { Colour, Paint } from "../output/colours.js";
import { type ChangeKind, kindOf, type ShownChange } from "./shown-change.js";

const colours: { readonly [Kind in ChangeKind]: Colour } = { added: "added", changed: "strong", removed: "removed" };

/** The differences of resources for people, with a blank line between them; empty if there are none. */
export function changesText(changes: readonly ShownChange[], paint: Paint): string {
  return changes.map((change) => oneText(change, paint)).join("\n");
}

function oneText(change: ShownChange, paint: Paint): string {
  const { type, name, layer, groups, before, after } = change;
  const kind = kindOf(change);
  const where = layer === undefined ? "" : ` in ${layer}`;
  const isSome = groups !== undefined && groups.length > 0 && groups.join() !== everyNode;
  const whom = isSome ? ` for ${listNames(groups)}` : "";
  const nobody = groups?.length === 0 ? ", but no node is served that" : "";
  const head = paint(
    colours[kind],
    `# ${printable(`${type} ${JSON.stringify(name)}${where}${whom}: ${kind}${nobody}`)}`,
  );
  const text = changeText(before?.yaml() ?? "", after?.yaml() ?? "", paint);
  return `${head}\n${text === "" ? "  (only in hidden content, such as a secret)\n" : text}`;
}

/** The differences for programs. */
export function changesView(changes: readonly ShownChange[]): readonly object[] {
  return changes.map((change) => {
    const { type, typeUrl, name, layer, before, after } = change;
    const contents = { before: before?.json() ?? null, after: after?.json() ?? null };
    return { type, typeUrl, name, layer, change: kindOf(change), ...contents };
  });
}
