import type { ResourceName } from "@xdskit/api";
import type { Node } from "../../model/node.js";
import type { ResourceError } from "../../wire/responses.js";
import type { ResourceErrorPolicy, StreamOptions } from "../contract/options.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";

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

/** What it names and was not answered is pending: SotW has no other way to say that there is none. */
export function errorsToTell(
  subscriber: Subscriber,
  { authorities }: Pick<StreamOptions, "authorities">,
): ErrorsToTell {
  const isDue = subscriber.unanswered && subscriber.type.schema !== undefined;
  if (isDue) subscriber.sent = withPending(subscriber.sent, subscriber.subscription.names);
  subscriber.unanswered = false;
  return { known: subscriber.errors, authorities };
}

/** What must be equal of needs with equal errors; each stream has its own. */
export function keyOfErrors({ known, authorities }: ErrorsToTell): string {
  return JSON.stringify([[...known.values()], authorities === undefined ? null : [...authorities]]);
}
