import type { ResourceName } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { ResourceErrorPolicy, StreamOptions } from "../contract/options.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";

/** No document names a client feature for resource errors; this name follows those of TTLs and wrappers. */
const feature = /^(?:xds|envoy)\.config\.supports-resource-errors$/;

/** Whether a stream's client is told errors of single resources. */
export function tellsErrors({ clientFeatures }: Pick<Node, "clientFeatures">, policy: ResourceErrorPolicy): boolean {
  return policy === "always" || clientFeatures.some((name) => feature.test(name));
}

/** The errors of a stream whose client is told them. */
export interface ErrorsToTell {
  /** Why names are absent, as their supplier said. */
  readonly known: ReadonlyMap<ResourceName, ResourceError>;
  /** The authorities that are served; undefined for any. */
  readonly authorities: ReadonlySet<string> | undefined;
}

/** Makes unanswered names pending: an error is SotW's only way to say that there is no such resource. */
export function errorsToTell(
  subscriber: Subscriber,
  { authorities }: Pick<StreamOptions, "authorities">,
): ErrorsToTell {
  const isDue = subscriber.awaitsAbsences && subscriber.type.schema !== undefined;
  if (isDue) subscriber.sent = withPending(subscriber.sent, subscriber.subscription.names);
  subscriber.awaitsAbsences = false;
  return { known: subscriber.errors, authorities };
}

/** A key for errors: equal for needs with equal errors. */
export function keyOfErrors({ known, authorities }: ErrorsToTell): string {
  return JSON.stringify([[...known.values()], authorities === undefined ? null : [...authorities]]);
}
