import type { ResourceName } from "@xdskit/api";
import type { ResourceError } from "../messages/responses.js";
import type { Node } from "../node.js";
import type { ResourceErrorPolicy, StreamOptions } from "./contract.js";
import type { Subscriber } from "./subscriber.js";

/** No document names a feature for it; this one follows those of TTLs and wrappers. */
const feature = /^(?:xds|envoy)\.config\.supports-resource-errors$/;

/** Whether a stream's client is told errors of single resources. */
export function tellsErrors({ clientFeatures }: Pick<Node, "clientFeatures">, policy: ResourceErrorPolicy): boolean {
  return policy === "always" || clientFeatures.some((name) => feature.test(name));
}

/** What a stream knows about errors, where its client is told of them. */
export interface ErrorsToTell {
  /** Why names are absent, as whoever supplies them said. */
  readonly known: ReadonlyMap<ResourceName, ResourceError>;
  /** The authorities that are served; undefined for any. */
  readonly authorities: ReadonlySet<string> | undefined;
}

/** What it names and was not answered is owed: SotW has no other way to say that there is none. */
export function errorsToTell(asker: Subscriber, { authorities }: Pick<StreamOptions, "authorities">): ErrorsToTell {
  if (asker.unanswered && asker.type.schema !== undefined) asker.owed = asker.owed.with(asker.subscription.names);
  asker.unanswered = false;
  return { known: asker.errors, authorities };
}

/** What must be equal of needs with equal errors; each stream has its own. */
export function keyOfErrors({ known, authorities }: ErrorsToTell): string {
  return JSON.stringify([[...known.values()], authorities === undefined ? null : [...authorities]]);
}

/** Keeps what is said about names that somebody waits for, and no more text than a client needs. */
export function noted(
  known: ReadonlyMap<ResourceName, ResourceError>,
  errors: readonly ResourceError[],
): ReadonlyMap<ResourceName, ResourceError> {
  const all = new Map(known);
  for (const { name, code, message } of errors) all.set(name, { name, code, message: message.slice(0, longest) });
  return all;
}

const longest = 1024;
