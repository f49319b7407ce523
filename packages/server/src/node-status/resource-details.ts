import type { Resource, ResourceName } from "@xdskit/api";
import { emptyResourceSet, missingNames, type ResourceSet, select, type TypeStatus } from "@xdskit/protocol";
import type { NodeContents, ResourceState } from "../contracts/nodes/node-status.js";

/** One resource of one type on one stream, with its contents, which may hold secrets. */
export interface ResourceDetail extends NodeContents {
  readonly name: ResourceName;
  /** The content that it was sent last. */
  readonly sent: Resource | undefined;
}

/**
 * Yields each resource that a client asked for and has as its target or uses, then the names that it asks for and that
 * do not exist. Costs the number of resources that it yields.
 */
export function* resourceDetails(status: TypeStatus, wanted: ResourceSet | undefined): Iterable<ResourceDetail> {
  const { type, subscription, sent, acknowledged } = status;
  const nothing = emptyResourceSet(type);
  const target = wanted ?? nothing;
  const used = acknowledged?.set ?? nothing;
  const last = sent?.set ?? used;
  const there = new Set<ResourceName>();
  // Listed at once: during a walk in slices, a newer set of the lineage may be derived.
  for (const { key, name } of [...select(target, subscription).resources]) {
    there.add(key);
    yield detailOf(name, key);
  }
  // Resources that it has and that are no longer its target.
  for (const from of new Set([used, last])) {
    if (from === target) continue;
    for (const { key, name } of [...select(from, subscription).resources]) {
      if (there.has(key)) continue;
      there.add(key);
      yield detailOf(name, key);
    }
  }
  for (const name of missingNames(subscription, target)) {
    if (there.has(name)) continue;
    yield { name, wanted: undefined, sent: undefined, used: undefined, rejected: undefined, state: "missing" };
  }

  function detailOf(name: ResourceName, key: ResourceName): ResourceDetail {
    const known = { wanted: target.get(key), sent: last.get(key), used: used.get(key) };
    const refused = status.rejected?.after.get(key);
    const isRefused =
      refused !== undefined && refused.version === known.wanted?.version && !isSame(known.used, refused);
    return { name, ...known, rejected: isRefused ? refused : undefined, state: stateOf(known, isRefused) };
  }
}

function stateOf(
  { wanted, sent, used }: Pick<ResourceDetail, "wanted" | "sent" | "used">,
  isRefused: boolean,
): ResourceState {
  if (isSame(used, wanted)) return "synced";
  if (isRefused) return "rejected";
  return isSame(sent, wanted) ? "sent" : "not-sent";
}

function isSame(a: Resource | undefined, b: Resource | undefined): boolean {
  return a?.version === b?.version;
}
