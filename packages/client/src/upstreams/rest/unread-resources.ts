import { canonicalName, type Finding, type ResourceName, type UnreadResource } from "@xdskit/api";
import type { CheckMessage } from "@xdskit/protocol";

/**
 * Resources of an answer whose JSON could not be read have no bytes that the client could reject. Each is passed on as
 * a message of its name that fails the check. The rest is as for any bad resource: the good ones are taken, the old one
 * stays, and the server hears why.
 */
export interface UnreadResources {
  /** Those of the newest answer; those of the answer before are forgotten. */
  note(unread: readonly UnreadResource[]): void;
  /** The check of the client. */
  readonly check: CheckMessage;
}

export function createUnreadResources(check: CheckMessage | undefined): UnreadResources {
  let findings: ReadonlyMap<ResourceName, readonly Finding[]> = new Map();
  return {
    note(unread) {
      findings = new Map(unread.map((one) => [canonicalName(one.name ?? ""), one.findings]));
    },
    check: (type, name, message) => findings.get(canonicalName(name)) ?? check?.(type, name, message) ?? [],
  };
}
