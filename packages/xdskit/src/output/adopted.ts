import type { AdoptedFile } from "@xdskit/server";
import { countedAll } from "./counts.js";
import { printable } from "./printable.js";

/** Nobody reads more on one line. */
const mostAdopted = 20;

/** `config/envoy.yaml: an Envoy bootstrap: 3 clusters, 1 listener; left out: admin, node` */
export function adoptedText({ file, form, taken, leftOut, serverClusters }: AdoptedFile): string {
  const rest = [
    ...(leftOut.length > 0 ? [`left out: ${firstNames(leftOut)}`] : []),
    ...(serverClusters.length > 0
      ? [`clusters that clients must have in their bootstrap: ${firstNames(serverClusters)}`]
      : []),
  ];
  return printable([`${file}: ${form}: ${countedAll(Object.entries(taken))}`, ...rest].join("; "));
}

function firstNames(names: readonly string[]): string {
  const more = names.length - mostAdopted;
  return [...names.slice(0, mostAdopted), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
