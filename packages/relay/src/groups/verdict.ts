import { redactErrorText } from "@xdskit/api";
import { rejectionReasons } from "@xdskit/protocol";
import type { ConfigArrivalOutcome } from "@xdskit/server";

/** When to reject a response at the origin: if every client that answered rejected it, or if any did. */
export type NackPolicy = "all" | "any";

/** Characters of the text. */
const longestVerdict = 2_000;

/**
 * The answer to the origin, from the answers of the relay's clients: undefined for an ACK, or the reason of a NACK.
 * Clients without an answer do not count; if none answered, the response is acknowledged. Known secrets are removed
 * from the reason.
 */
export function verdictOf(
  { acknowledged, rejected, rejections }: Pick<ConfigArrivalOutcome, "acknowledged" | "rejected" | "rejections">,
  policy: NackPolicy,
): string | undefined {
  if (rejected === 0 || (policy === "all" && acknowledged > 0)) return undefined;
  const { count, characters } = rejectionReasons;
  // Of clients with the same reason, one is named.
  const byReason = new Map<string, string>();
  for (const { node, message } of rejections) if (!byReason.has(message)) byReason.set(message, node);
  const reasons = Array.from(byReason)
    .slice(0, count)
    .map(([message, node]) => `${cutReason(node, 100)}: ${cutReason(redactErrorText(message), characters)}`);
  const more = byReason.size > count ? `; and ${byReason.size - count} other reasons` : "";
  return cutReason(
    `rejected by ${rejected} of ${rejected + acknowledged} clients: ${reasons.join("; ")}${more}`,
    longestVerdict,
  );
}

function cutReason(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
