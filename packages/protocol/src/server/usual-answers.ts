import type { Request } from "../messages/requests.js";
import { type AnswerFields, UsualAnswer } from "../messages/usual-answer.js";
import { NameSet } from "../name-set.js";
import type { Sent } from "./client-use.js";
import type { Leg, LegStep } from "./leg.js";
import type { Subscriber } from "./subscriber.js";

/** By the names that acknowledgements repeat. A fleet of one kind of client writes them alike. */
const known = new WeakMap<NameSet, UsualAnswer[]>();

/** Ways to write it that are remembered for the same names, over all types. */
const mostWays = 32;

/** The same of longer ones: clients that write a list in ever another order share none, and each would keep its own for nothing. */
const mostLongWays = 8;

/** Of an acknowledgement that names nothing: type URL, version, nonce. */
const mostBytesWithoutNames = 1024;

/**
 * How a client acknowledges, of an acknowledgement that was read: one that others write in the same way is shared with them. Undefined where it is not worth remembering.
 * `names`: those that it repeats; no more is kept than they take.
 */
export function usualAnswerOf(
  { bytes, node }: Pick<Request, "bytes" | "node">,
  fields: AnswerFields,
  { version, nonce }: Sent,
  names: NameSet = NameSet.empty,
): UsualAnswer | undefined {
  // What the node says is not kept.
  const length = bytes.length - (node === undefined ? 0 : node.end - node.start);
  if (length > mostBytesWithoutNames + 2 * names.characters + 8 * names.size) return undefined;
  let ways = known.get(names);
  const same = ways?.find((way) => way.is(bytes, version, nonce));
  if (same !== undefined) return same;
  if (ways !== undefined && ways.length >= mostLongWays && length > mostBytesWithoutNames) return undefined;
  const made = UsualAnswer.of(bytes, fields);
  // It may acknowledge with another version than it was sent.
  if (made === undefined || !made.is(bytes, version, nonce)) return undefined;
  if (ways === undefined) {
    ways = [];
    known.set(names, ways);
  }
  if (ways.length < mostWays) ways.push(made);
  return made;
}

/** Of which step these bytes are the usual acknowledgement, of those of a way that are not answered. */
export function usuallyAnswered({ open }: Leg, askers: readonly Subscriber[], bytes: Uint8Array): LegStep | undefined {
  for (const step of open) {
    const asker = askers[step.index];
    const sent = asker?.outstanding[0];
    if (asker === undefined || sent === undefined) continue;
    if (asker.usual?.is(bytes, sent.version, sent.nonce)) return step;
  }
  return undefined;
}
