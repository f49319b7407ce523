import { tooManyNames } from "../../wire/requests/names.js";
import { maxCharacters } from "../contract/limits.js";
import type { StreamLimits } from "../contract/options.js";
import type { Subscriber } from "../state/subscriber.js";

/** Why a node is too large (rule 162); undefined if it is not. */
export function beyondNode(bytes: number, { nodeBytes }: StreamLimits): string | undefined {
  if (bytes <= nodeBytes) return undefined;
  return `the node takes ${bytes} bytes without its extensions, and at most ${nodeBytes} are allowed`;
}

/** Why a request has too many names in all its fields together (rule 162); undefined if it has not. */
export function beyondRequest(names: number, { namesPerRequest }: StreamLimits): string | undefined {
  return names > namesPerRequest ? tooManyNames(namesPerRequest) : undefined;
}

/** Why a stream may not ask for another type; undefined if it may. */
export function beyondTypes(types: number, { typesPerStream }: StreamLimits): string | undefined {
  return types < typesPerStream ? undefined : `the stream asks for more than ${typesPerStream} resource types`;
}

/** Why the subscriptions of a stream are too large after a request; undefined if they are not. */
export function beyondStream(subscribers: readonly Subscriber[], limits: StreamLimits): string | undefined {
  let names = 0;
  let characters = 0;
  for (const { subscription } of subscribers) {
    names += subscription.names.size;
    characters += subscription.names.characters;
  }
  if (names > limits.namesPerStream) {
    return `the stream names ${names} resources, and at most ${limits.namesPerStream} are allowed`;
  }
  const most = maxCharacters(limits);
  if (characters > most) return `the stream's names have ${characters} characters, and at most ${most} are allowed`;
  return undefined;
}

/**
 * Why too many names of a client are pending. Under a wildcard, even names that it drops at once must be answered, and
 * a client that does not read could pile them up.
 */
export function beyondPending(
  { sent: { pending } }: Subscriber,
  before: number,
  limits: StreamLimits,
): string | undefined {
  if (pending.size <= before) return undefined;
  const most = maxCharacters(limits);
  if (pending.size <= limits.namesPerStream && pending.characters <= most) return undefined;
  return `the stream waits for ${pending.size} names, and at most ${limits.namesPerStream} of ${most} characters are allowed`;
}
