import { listNames, printable } from "@xdskit/api";
import type { AdoptedFile } from "@xdskit/server";
import { countedAll } from "../counts.js";

/** `config/envoy.yaml: an Envoy bootstrap: 3 clusters, 1 listener; left out: admin, node` */
export function adoptedText({ file, form, taken, leftOut, serverClusters }: AdoptedFile): string {
  const rest = [
    ...(leftOut.length > 0 ? [`left out: ${listNames(leftOut)}`] : []),
    ...(serverClusters.length > 0
      ? [`clusters that clients must have in their bootstrap: ${listNames(serverClusters)}`]
      : []),
  ];
  return printable([`${file}: ${form}: ${countedAll(Object.entries(taken))}`, ...rest].join("; "));
}
