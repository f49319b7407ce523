import { redactErrorText } from "@xdskit/api";
import type { ConfigArrivalOutcome } from "@xdskit/server";

/** When an origin is told that what it sent was rejected: once every client that answered rejected it, or any. */
export type NackPolicy = "all" | "any";

/** Different reasons in one; the characters of one, and of all. */
const mostReasons = 5;
const mostOfOne = 400;
const mostCharacters = 2_000;

/**
 * What an origin is to be told of what it sent, by what became of it at the relay's clients: undefined for an acknowledgement, or the reason to reject it. Who did not answer has
 * no say; where nobody did, it is acknowledged. The reason holds no secret that it can be seen to hold.
 */
export function verdictOf(
  { acknowledged, rejected, rejections }: Pick<ConfigArrivalOutcome, "acknowledged" | "rejected" | "rejections">,
  policy: NackPolicy,
): string | undefined {
  if (rejected === 0 || (policy === "all" && acknowledged > 0)) return undefined;
  // Of those who say the same one is named.
  const said = new Map<string, string>();
  for (const { node, message } of rejections) if (!said.has(message)) said.set(message, node);
  const reasons = Array.from(said)
    .slice(0, mostReasons)
    .map(([message, node]) => `${cut(node, 100)}: ${cut(redactErrorText(message), mostOfOne)}`);
  const more = said.size > mostReasons ? `; and ${said.size - mostReasons} other reasons` : "";
  return cut(
    `rejected by ${rejected} of ${rejected + acknowledged} clients: ${reasons.join("; ")}${more}`,
    mostCharacters,
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
