import { isGlobName, type TypeUrl } from "@xdskit/api";
import type { Subscriber } from "../state/subscriber.js";

/** v3 type URLs of the types whose resources are not known yet; undefined means none. */
export type UnknownTypes = ReadonlySet<TypeUrl> | undefined;

/**
 * Whether a client asks for everything, or for a collection, of an unknown type. Until the resources are known, it gets
 * no answer for the type (rule 7).
 */
export function asksForUnknown(
  { type, subscription }: Pick<Subscriber, "type" | "subscription">,
  unknown: UnknownTypes,
): boolean {
  if (unknown?.has(type.typeUrl) !== true) return false;
  return subscription.wildcard || [...subscription.names].some(isGlobName);
}

export function someAsk(subscribers: readonly Subscriber[], unknown: UnknownTypes): boolean {
  return unknown !== undefined && subscribers.some((subscriber) => asksForUnknown(subscriber, unknown));
}
