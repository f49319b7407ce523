import type { Resource, ResourceName } from "@xdskit/api";
import { longestErrorText } from "../../model/limits.js";
import { envoyTexts } from "./blame-envoy.js";
import { grpcTexts } from "./blame-grpc.js";
import { type Blame, CarriedNames } from "./blame-text.js";

const texts = [...envoyTexts, ...grpcTexts];

/**
 * Which resources of a rejected response an error detail says are at fault, and whether the client uses the others;
 * undefined where it does not say. Understood is what Envoy writes (each xDS type, SotW and delta, through the Istio
 * agent too), and gRPC's clients: C++ and what wraps it, Go, Java; Node's gives no names. The text is a client's: it
 * may be anything, and only names that the response carried are ever blamed. Clients name the first fault or all of
 * them, so that what is not blamed may be at fault as well.
 */
export function blameIn(message: string, carried: Iterable<ResourceName>): Blame | undefined {
  const names = new CarriedNames(carried);
  if (names.size === 0) return undefined;
  // Requests bring no more: what was cut of a longer one ends with a mark.
  const text = message.slice(0, longestErrorText + 1);
  for (const read of texts) {
    const blame = read(text, names);
    if (blame === undefined) continue;
    if (blame.names.length === 0) return undefined;
    return { names: [...new Set(blame.names)], usesRest: blame.usesRest && !isCut(message) };
  }
  // Most texts of Envoy about routes, endpoints and secrets name nothing. Of one resource they need not.
  const [only] = names;
  return names.size === 1 && only !== undefined ? { names: [only], usesRest: false } : undefined;
}

const lastBlame = new WeakMap<readonly Resource[], { readonly message: string; readonly blame: Blame | undefined }>();

/**
 * What an error detail says of these resources: streams that share a response and say the same of it cost one reading.
 */
export function blameOf(message: string, carried: readonly Resource[]): Blame | undefined {
  const last = lastBlame.get(carried);
  if (last?.message === message) return last.blame;
  const blame = blameIn(
    message,
    carried.map(({ name }) => name),
  );
  lastBlame.set(carried, { message, blame });
  return blame;
}

/** Further names may have been cut off, here or by Envoy. */
function isCut(message: string): boolean {
  return message.length >= longestErrorText || message.endsWith("...(truncated)");
}
