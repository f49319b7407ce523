import type { Resource, ResourceName } from "@xdskit/api";
import { emptyResourceSet, missingNames, select, type TypeStatus } from "@xdskit/protocol";
import type { NodeContents, ResourceState } from "../../contracts/nodes/node-status.js";
import type { ReportedStream } from "../../contracts/nodes/reported-stream.js";

/** One resource of one type on one stream, with its contents, which may hold secrets. */
export interface ResourceDetail extends NodeContents {
  readonly name: ResourceName;
  /** The content that it was sent last. */
  readonly sent: Resource | undefined;
  /** Whether the client names it as at fault. */
  readonly isBlamed: boolean;
}

/** The snapshot that a client is to have now, and the newest of its group. */
export type ClientTargets = Pick<ReportedStream, "snapshot" | "newest">;

/**
 * Yields each resource that a client asked for and has as its target or uses, or that is kept from it, then the names
 * that it asks for and that do not exist. Costs the number of resources that it yields.
 */
export function* resourceDetails(status: TypeStatus, { snapshot, newest }: ClientTargets): Iterable<ResourceDetail> {
  const { type, subscription, sent, acknowledged } = status;
  const nothing = emptyResourceSet(type);
  const target = snapshot?.of(type) ?? nothing;
  const whole = newest?.of(type) ?? target;
  const used = acknowledged?.set ?? nothing;
  const last = sent?.set ?? used;
  const there = new Set<ResourceName>();
  const blamed = new Set(status.rejected?.blamed);
  // Listed at once: during a walk in slices, a newer set of the lineage may be derived.
  for (const { key, name } of [...select(target, subscription).resources]) {
    there.add(key);
    yield detailOf(name, key);
  }
  // Resources that it has and that are no longer its target, and those that are kept from it.
  for (const from of new Set([used, last, whole])) {
    if (from === target) continue;
    for (const { key, name } of [...select(from, subscription).resources]) {
      if (there.has(key)) continue;
      there.add(key);
      yield detailOf(name, key);
    }
  }
  for (const name of missingNames(subscription, target)) {
    if (there.has(name)) continue;
    const none = { wanted: undefined, newest: undefined, sent: undefined, used: undefined, rejected: undefined };
    yield { name, ...none, state: "missing", isBlamed: false };
  }

  function detailOf(name: ResourceName, key: ResourceName): ResourceDetail {
    const known = { wanted: target.get(key), newest: whole.get(key), sent: last.get(key), used: used.get(key) };
    const refused = status.rejected?.after.get(key);
    const isRefused =
      refused !== undefined && refused.version === known.wanted?.version && !isSame(known.used, refused);
    const reported = { rejected: isRefused ? refused : undefined, isBlamed: isRefused && blamed.has(name) };
    return { name, ...known, ...reported, state: stateOf(known, isRefused) };
  }
}

function stateOf(
  { wanted, newest, sent, used }: Pick<ResourceDetail, "wanted" | "newest" | "sent" | "used">,
  isRefused: boolean,
): ResourceState {
  if (isSame(used, wanted)) return isSame(wanted, newest) ? "synced" : "held-back";
  if (isRefused) return "rejected";
  return isSame(sent, wanted) ? "sent" : "not-sent";
}

function isSame(a: Resource | undefined, b: Resource | undefined): boolean {
  return a?.version === b?.version;
}
