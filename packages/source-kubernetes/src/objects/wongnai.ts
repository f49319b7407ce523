import { didYouMean } from "@xdskit/api";
import type { PolicyFault } from "./object-fault.js";

const prefix = "xds.lmwn.com/";
/** Without it the others say nothing. */
const codes = `${prefix}retry-status`;

/** What the annotations of github.com/wongnai/xds are called here. */
const names: Readonly<Record<string, string>> = {
  "retry-status": "retry-on",
  "retry-count": "retries",
  "retry-backoff": "retry-backoff",
};
const gateways = ["api-gateway", "grpc-service"];

/** An annotation of another project, by the name and with the value that it has here. */
export interface Translated {
  readonly annotation: string;
  readonly name: string;
  readonly text: string;
}

/** Reads the annotations of wongnai/xds, as ours. */
export function readWongnai(annotations: Readonly<Record<string, string>>): {
  /** The codes first. */
  readonly translated: readonly Translated[];
  readonly faults: readonly PolicyFault[];
} {
  const translated: Translated[] = [];
  const faults: PolicyFault[] = [];
  const own = Object.entries(annotations).filter(([annotation]) => annotation.startsWith(prefix));
  for (const [annotation, text] of own.sort(([a], [b]) => Number(b === codes) - Number(a === codes))) {
    const theirs = annotation.slice(prefix.length);
    const name = Object.hasOwn(names, theirs) ? names[theirs] : undefined;
    const refuse = (message: string) => faults.push({ annotation, message });
    if (gateways.includes(theirs)) refuse("it is not followed: a GRPCRoute says the same");
    else if (name === undefined) refuse(`there is no such annotation${didYouMean(theirs, Object.keys(names))}`);
    else if (!Object.hasOwn(annotations, codes)) refuse(`it says nothing without ${codes}`);
    // There the fifth retry may be asked for, and clients leave it out.
    else translated.push({ annotation, name, text: name === "retries" && text === "5" ? "4" : text });
  }
  return { translated, faults };
}
