import { type NodeStatus, type RejectionReport, rankOf, type TypeReport } from "@xdskit/server";
import type { NodeRowType } from "../contract/answers.js";
import type { NodeRow } from "../contract/fleet.js";
import { maxInEntry } from "../contract/limits.js";
import { clientOf } from "./node-json.js";

type RowRejection = NonNullable<NodeRowType["rejected"]>;

/** A node as a row of a list. `now`: milliseconds since 1970. */
export function rowOf({ id, node, group, streams, state, why }: NodeStatus, replica: string, now: number): NodeRow {
  const types = mergedTypes(streams.flatMap((stream) => stream.types.map((type) => rowType(type, now))));
  const { region, zone, subZone } = node.locality;
  return {
    id,
    group,
    cluster: node.cluster,
    client: clientOf(node),
    locality: [region, zone, subZone].filter((part) => part !== "").join("/"),
    replicas: [replica],
    connectedSince: new Date(Math.min(...streams.map(({ openedAt }) => openedAt.getTime()))).toISOString(),
    streams: streams.length,
    state,
    behind: types.reduce((sum, { behind }) => sum + behind, 0),
    lagMs: types.reduce<number | null>((most, { lagMs }) => (lagMs === null ? most : Math.max(most ?? 0, lagMs)), null),
    why,
    ...certificateOf(streams),
    types,
  };
}

/** Of several streams, the newest that has one: certificates are renewed. */
function certificateOf(streams: NodeStatus["streams"]): Pick<NodeRow, "certificate"> {
  const identity = streams.findLast((stream) => stream.identity !== undefined)?.identity;
  if (identity === undefined) return {};
  const { subject, names, validTo } = identity;
  const isTime = Number.isFinite(validTo);
  return { certificate: { subject, names: [...names], validTo: isTime ? new Date(validTo).toISOString() : null } };
}

function rowType(report: TypeReport, now: number): NodeRowType {
  const { type, state, resources, behind, why, heldBack, rejected } = report;
  const row = { type, state, resources, behind, lagMs: lagOf(report, now), why, ...(heldBack && { heldBack }) };
  if (rejected === undefined) return row;
  return { ...row, rejected: rejectionJson(rejected) };
}

/** A client's words against a response; their secrets were taken out when they came. */
export function rejectionJson({ at, version, message, blamed = [], resources }: RejectionReport): RowRejection {
  return { at: at.toISOString(), version, message, blamed: blamed.slice(0, maxInEntry), resources };
}

function lagOf({ lag }: TypeReport, now: number): number | null {
  if (lag === undefined) return null;
  return Math.max(0, Math.round((lag.to?.getTime() ?? now) - lag.from.getTime()));
}

/** A type may be asked for on several streams: the worst counts. */
export function mergedTypes(types: readonly NodeRowType[]): NodeRowType[] {
  const merged = new Map<string, NodeRowType>();
  for (const one of types) {
    const known = merged.get(one.type);
    if (known === undefined || rankOf(one.state) > rankOf(known.state)) merged.set(one.type, one);
  }
  return [...merged.values()];
}
