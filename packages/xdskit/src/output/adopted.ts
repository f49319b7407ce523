import type { AdoptedFile } from "@xdskit/server";
import { countedAll } from "./counts.js";
import { printable } from "./printable.js";

/** More of what is left out nobody reads on a line. */
const mostLeftOut = 20;

/** `config/envoy.yaml: an Envoy bootstrap: 3 clusters, 1 listener; left out: admin, node` */
export function adoptedText({ file, form, taken, leftOut }: AdoptedFile): string {
  const more = leftOut.length - mostLeftOut;
  const named = [...leftOut.slice(0, mostLeftOut), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return printable(
    `${file}: ${form}: ${countedAll(Object.entries(taken))}${named === "" ? "" : `; left out: ${named}`}`,
  );
}
