import type { Rejection } from "@xdskit/protocol";
import type { Member } from "./members/member.js";
import type { Suspect } from "./quarantine/last-acknowledged.js";
import type { QuarantineEntry } from "./quarantine/quarantine.js";
import type { RejectedContent } from "./shared/rejected-contents.js";

/** The quarantine of contents that may be at fault, from members that come later than `after`. */
export function quarantineEntries(
  suspects: readonly Suspect[],
  { blamed, message }: Rejection,
  { node }: Member,
  after: number,
): readonly QuarantineEntry[] {
  const suspicion = blamed === undefined ? {} : undefined;
  const about = { cause: "rejected", suspicion, after, since: new Date(), node: node.id, message } as const;
  return suspects.map(({ type, key, rejected, good }) => {
    return { type, key, version: rejected.version, instead: good, ...about };
  });
}

/** The entry as other servers get it. */
export function rejectedContentOf(entry: QuarantineEntry): RejectedContent {
  const { type, key, version, instead, node, message, since } = entry;
  return { type: type.typeUrl, key, version, instead: instead?.version, node, message, since: since.getTime() };
}

/** Identifies a content. */
export function contentId({ type, key, version }: Pick<RejectedContent, "type" | "key" | "version">): string {
  return JSON.stringify([type, key, version ?? null]);
}

/** The same of an entry of the quarantine. */
export function contentIdOf({ type, key, version }: QuarantineEntry): string {
  return contentId({ type: type.typeUrl, key, version });
}
