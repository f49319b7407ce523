import { mostCharacters } from "../contract/limits.js";
import type { StreamLimits } from "../contract/options.js";
import type { Subscriber } from "../state/subscriber.js";

/** Why a node is larger than one may be (rule 162); undefined where it is not. */
export function beyondNode(bytes: number, { nodeBytes }: StreamLimits): string | undefined {
  if (bytes <= nodeBytes) return undefined;
  return `the node takes ${bytes} bytes without its extensions, and at most ${nodeBytes} are allowed`;
}

/** Why a request goes beyond what one may name in all its fields together (rule 162); undefined where it does not. */
export function beyondRequest(names: number, { namesPerRequest }: StreamLimits): string | undefined {
  return names > namesPerRequest ? `a request has more than ${namesPerRequest} resource names` : undefined;
}

/** Why a stream may not ask for one more type than it does; undefined where it may. */
export function beyondTypes(types: number, { typesPerStream }: StreamLimits): string | undefined {
  return types < typesPerStream ? undefined : `the stream asks for more than ${typesPerStream} resource types`;
}

/**
 * Why a stream goes beyond what one may hold, after a request changed what it asks for; undefined where it does not.
 */
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
  const most = mostCharacters(limits);
  if (characters > most) return `the stream's names have ${characters} characters, and at most ${most} are allowed`;
  return undefined;
}

/**
 * Names that a client takes back at once are still to be answered under a wildcard, which it may put off by not
 * reading.
 */
export function beyondPending(
  { sent: { pending } }: Subscriber,
  before: number,
  limits: StreamLimits,
): string | undefined {
  if (pending.size <= before) return undefined;
  const most = mostCharacters(limits);
  if (pending.size <= limits.namesPerStream && pending.characters <= most) return undefined;
  return `the stream waits for ${pending.size} names, and at most ${limits.namesPerStream} of ${most} characters are allowed`;
}
