import { perObject } from "@xdskit/api";
import { longestText, maxAlternatives, maxTransitions } from "../../model/basics/limits.js";
import { NameSet } from "../../model/names/name-set.js";
import type { Request } from "../../wire/requests/requests.js";
import { type AnswerFields, UsualAnswer } from "../../wire/requests/usual-answer.js";
import type { NumberedResponse } from "../state/exchange.js";

/*
 * A client acknowledges the responses of a type in the same bytes each time, except for nonce and version, and clients
 * of one kind use the same bytes. So one decoded acknowledgement is remembered (`UsualAnswer`), and equal ones need not
 * be decoded.
 */

/** Usual answers by the names in them (SotW), to share among clients. */
const answersOf = perObject((_: NameSet): UsualAnswer[] => []);

/** Enough for an acknowledgement without names: type URL, version, nonce. */
const bytesWithoutNames = 2 * longestText;

/**
 * The usual answer of a client, made from a decoded acknowledgement; the same object for clients with the same bytes.
 * Undefined if it is not worth remembering. `names`: the names in it. An answer much longer than these is not kept.
 */
export function usualAnswerOf(
  { bytes, node }: Pick<Request, "bytes" | "node">,
  fields: AnswerFields,
  { version, nonce }: NumberedResponse,
  names: NameSet = NameSet.empty,
): UsualAnswer | undefined {
  // The bytes of the node are not kept.
  const length = bytes.length - (node === undefined ? 0 : node.end - node.start);
  if (length > bytesWithoutNames + 2 * names.characters + 8 * names.size) return undefined;
  const answers = answersOf(names);
  const same = answers.find((answer) => answer.is(bytes, version, nonce));
  if (same !== undefined) return same;
  // Clients that write a list in a different order each time share none, and each would keep useless copies.
  if (answers.length >= maxAlternatives && length > bytesWithoutNames) return undefined;
  const made = UsualAnswer.of(bytes, fields);
  // Some clients acknowledge with a version that differs from the one that they were sent.
  if (made === undefined || !made.is(bytes, version, nonce)) return undefined;
  if (answers.length < maxTransitions) answers.push(made);
  return made;
}
