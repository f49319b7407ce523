import type { Resource, ResourceName } from "@xdskit/api";
import { longestErrorText } from "../../model/basics/limits.js";
import { PerKey } from "../../model/basics/memo.js";
import { envoyTexts } from "./blame-envoy.js";
import { grpcTexts } from "./blame-grpc.js";
import { type Blame, CarriedNames } from "./blame-text.js";

const texts = [...envoyTexts, ...grpcTexts];

/**
 * Reads from an error detail which resources of a rejected response are at fault, and whether the client uses the
 * others; undefined if the text does not say. It understands Envoy (each xDS type, SotW and delta, also through the
 * Istio agent) and gRPC's clients: C++ and its wrappers, Go and Java. Node's client gives no names. The text comes from
 * a client and may be anything, so only names that the response carried are blamed. Some clients name only the first
 * fault, so other resources may be at fault as well.
 */
export function blameIn(message: string, carried: Iterable<ResourceName>): Blame | undefined {
  const names = new CarriedNames(carried);
  if (names.size === 0) return undefined;
  // A longer message was cut when the request was read, and ends with a mark.
  const text = message.slice(0, longestErrorText + 1);
  for (const read of texts) {
    const blame = read(text, names);
    if (blame === undefined) continue;
    if (blame.names.length === 0) return undefined;
    return { names: [...new Set(blame.names)], usesRest: blame.usesRest && !isCut(message) };
  }
  // Most texts of Envoy about routes, endpoints and secrets name nothing. With a single resource, no name is needed.
  const [only] = names;
  return names.size === 1 && only !== undefined ? { names: [only], usesRest: false } : undefined;
}

const lastBlame = new PerKey<readonly Resource[], { readonly blame: Blame | undefined }>(1);

/**
 * The blame that an error detail puts on these resources. It is read once for all streams that share a response and its
 * error.
 */
export function blameOf(message: string, carried: readonly Resource[]): Blame | undefined {
  const known = lastBlame.get(carried, message);
  if (known !== undefined) return known.blame;
  const blame = blameIn(
    message,
    carried.map(({ name }) => name),
  );
  return lastBlame.set(carried, message, { blame }).blame;
}

/** Whether further names may have been cut off, here or by Envoy. */
function isCut(message: string): boolean {
  return message.length >= longestErrorText || message.endsWith("...(truncated)");
}
