import type { Clock, ResourceName, TypeUrl } from "@xdskit/api";
import type { TypeStatus } from "@xdskit/protocol";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { ConfigArrivalRejection, ConfigArrivalWait } from "../../contracts/nodes/arrival.js";
import type { OpenStream } from "../../contracts/nodes/reported-stream.js";
import { heldBackOf } from "../node-status/held-back.js";
import { momentOf } from "../node-status/moment.js";
import { behindOf, comesNext, waitReports } from "../node-status/type-report.js";
import { heldBackWords } from "../node-status/words.js";
import { type ChangedKeys, changedKeys, type StandingsOfChange, type TypeStanding } from "./changed-keys.js";

/** How far a stream, or a node, has a change. */
export type ArrivalStanding =
  | { readonly kind: "unconcerned" }
  | { readonly kind: "acknowledged" }
  | { readonly kind: "rejected"; readonly rejection: ConfigArrivalRejection }
  /** The wait itself is looked up on demand. `held-back`: its group keeps from it all that it lacks. */
  | { readonly kind: "pending" | "held-back"; readonly stream: OpenStream; readonly typeUrl: TypeUrl };

/** A change that streams are compared with. */
export interface LookedAt {
  readonly standings: StandingsOfChange;
  /** Nothing was published since. */
  isNewest(): boolean;
}

/** A change of one layer. */
export interface ChangedLayer {
  readonly change: LayerChange;
  /** Worked out on demand. */
  readonly keys: ReadonlyMap<TypeUrl, ChangedKeys>;
}

export function changedBy(change: LayerChange): ChangedLayer {
  let keys: ReadonlyMap<TypeUrl, ChangedKeys> | undefined;
  return {
    change,
    get keys() {
      keys ??= changedKeys(change);
      return keys;
    },
  };
}

const unconcerned: ArrivalStanding = { kind: "unconcerned" };
const acknowledged: ArrivalStanding = { kind: "acknowledged" };

/** Costs the types of the stream. The change is compared once for all streams with equal subscriptions and contents. */
export function arrivalStandingOf(
  stream: OpenStream,
  { change, keys }: ChangedLayer,
  look: LookedAt,
  clock: Clock,
): ArrivalStanding {
  if (stream.layers !== undefined && !stream.layers.includes(change.layer)) return unconcerned;
  const { snapshot, newest } = stream;
  const hasAll = stream.isInSync && snapshot === newest;
  const isNewest = look.isNewest();
  let standing: ArrivalStanding = unconcerned;
  for (const status of stream.status()) {
    const { typeUrl } = status.type;
    if (!keys.has(typeUrl)) continue;
    const of = look.standings.of(status, stream, isNewest);
    if (!of.concerned) continue;
    // A client that uses exactly its target has this change too.
    if (hasAll || of.lacking.length === 0) {
      if (standing.kind === "unconcerned") standing = acknowledged;
      continue;
    }
    const rejection = rejectionOf(stream, status, of, keys.get(typeUrl), clock);
    if (rejection !== undefined) return { kind: "rejected", rejection };
    if (standing.kind === "pending") continue;
    const [target, last] = [snapshot, newest].map((one) => one?.of(status.type));
    const isTarget = (key: ResourceName) => target?.get(key)?.version === last?.get(key)?.version;
    standing = { kind: of.lacking.some(isTarget) ? "pending" : "held-back", stream, typeUrl };
  }
  return standing;
}

/** It rejected a response that had something it still lacks of the change. */
function rejectionOf(
  { opened, newest }: OpenStream,
  { type, rejected }: TypeStatus,
  { lacking }: TypeStanding,
  changed: ChangedKeys | undefined,
  clock: Clock,
): ConfigArrivalRejection | undefined {
  if (rejected === undefined) return undefined;
  const wanted = newest?.of(type);
  const isAtFault = lacking.some((key) => {
    const refused = rejected.after.get(key)?.version;
    return refused === wanted?.get(key)?.version || refused === changed?.resources.get(key)?.version;
  });
  if (!isAtFault) return undefined;
  const { version, code, message, blamed, carried, at } = rejected;
  return {
    node: opened.node.id,
    group: opened.group,
    type: type.name,
    typeUrl: type.typeUrl,
    version,
    code,
    message,
    blamed,
    resources: carried.length,
    at: momentOf(clock).date(at),
  };
}

/** Why a stream is pending, as of now. */
export function waitOf({
  kind,
  stream,
  typeUrl,
}: Extract<ArrivalStanding, { readonly stream: OpenStream }>): ConfigArrivalWait | undefined {
  const statuses = stream.status();
  const status = statuses.find(({ type }) => type.typeUrl === typeUrl);
  if (status === undefined) return undefined;
  const { type } = status;
  const waits = waitReports(status.waits, statuses);
  const wanted = stream.snapshot?.of(type);
  const { node, group } = stream.opened;
  const about = { node: node.id, group, type: type.name, typeUrl, waits };
  if (kind === "held-back") {
    const heldBack = heldBackOf(status, wanted, stream);
    return { ...about, reason: kind, why: heldBack === undefined ? "" : heldBackWords(heldBack) };
  }
  return { ...about, ...comesNext(status, waits, behindOf(status, wanted), stream) };
}

/** The standing of a node with several streams: a rejection counts first, then a wait. */
export function standingOfNode(standings: Iterable<ArrivalStanding>): ArrivalStanding {
  let found: ArrivalStanding = unconcerned;
  for (const standing of standings) if (ranks[standing.kind] > ranks[found.kind]) found = standing;
  return found;
}

const ranks: Readonly<Record<ArrivalStanding["kind"], number>> = {
  unconcerned: 0,
  acknowledged: 1,
  "held-back": 2,
  pending: 3,
  rejected: 4,
};
