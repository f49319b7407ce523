import type { AdoptedFile } from "@xdskit/server";
import { countedAll } from "./counts.js";
import { printable } from "./printable.js";

/** More nobody reads on a line. */
const mostNamed = 20;

/** `config/envoy.yaml: an Envoy bootstrap: 3 clusters, 1 listener; left out: admin, node` */
export function adoptedText({ file, form, taken, leftOut, serverClusters }: AdoptedFile): string {
  const rest = [
    ...(leftOut.length > 0 ? [`left out: ${firstOf(leftOut)}`] : []),
    ...(serverClusters.length > 0
      ? [`clusters that clients must have in their bootstrap: ${firstOf(serverClusters)}`]
      : []),
  ];
  return printable([`${file}: ${form}: ${countedAll(Object.entries(taken))}`, ...rest].join("; "));
}

function firstOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
