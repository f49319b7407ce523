import { redactErrorText } from "@xdskit/api";
import type { NodeStatus, TypeReport, WaitReport } from "@xdskit/server";
import type { NodeRowType } from "../contract/answers.js";
import type { NodeRow, NodeStateName } from "../contract/fleet.js";
import { mostInEntry } from "../contract/limits.js";
import { clientOf } from "./node-json.js";

const ranks: Readonly<Record<NodeStateName, number>> = { synced: 0, pending: 1, stale: 2, rejected: 3 };

/** How bad a state is, from 0. */
export function rankOf(state: NodeStateName): number {
  return ranks[state];
}

/** A node as a row of a list. `now`: milliseconds since 1970. */
export function rowOf({ id, node, group, streams, state }: NodeStatus, replica: string, now: number): NodeRow {
  const types = mergedTypes(streams.flatMap((stream) => stream.types.map((type) => rowType(type, now))));
  const worst = types.reduce<NodeRowType | undefined>(
    (found, one) => (found === undefined || ranks[one.state] > ranks[found.state] ? one : found),
    undefined,
  );
  const { region, zone, subZone } = node.locality;
  return {
    id,
    group,
    cluster: node.cluster,
    client: clientOf(node),
    locality: [region, zone, subZone].filter((part) => part !== "").join("/"),
    replica,
    connectedSince: new Date(Math.min(...streams.map(({ openedAt }) => openedAt.getTime()))).toISOString(),
    streams: streams.length,
    state,
    behind: types.reduce((sum, { behind }) => sum + behind, 0),
    lagMs: types.reduce<number | null>((most, { lagMs }) => (lagMs === null ? most : Math.max(most ?? 0, lagMs)), null),
    why: worst?.why === undefined || worst.why === "" ? "" : `${worst.type}: ${worst.why}`,
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
  const { type, state, resources, behind, rejected } = report;
  const row = { type, state, resources, behind, lagMs: lagOf(report, now), why: whyOf(report) };
  if (rejected === undefined) return row;
  const { at, version, message, blamed = [] } = rejected;
  const said = {
    at: at.toISOString(),
    version,
    message: redactErrorText(message),
    blamed: blamed.slice(0, mostInEntry),
  };
  return { ...row, rejected: said };
}

function lagOf({ lag }: TypeReport, now: number): number | null {
  if (lag === undefined) return null;
  return Math.max(0, Math.round((lag.to?.getTime() ?? now) - lag.from.getTime()));
}

/** Why a type is not synced, in a few words. */
function whyOf({ state, rejected, waits, behind, sent, acknowledged }: TypeReport): string {
  if (state === "synced") return "";
  if (rejected !== undefined) return redactErrorText(rejected.message);
  const [wait] = waits;
  if (wait !== undefined) return waitText(wait);
  if (sent !== undefined && sent.version !== acknowledged?.version) return "waits for its ACK";
  return behind === 1 ? "1 resource is not sent yet" : `${behind} resources are not sent yet`;
}

function waitText({ kind, names, for: awaited }: WaitReport): string {
  const what = namesText(names);
  if (awaited !== undefined) return `${what} waits for ${awaited.type} ${namesText(awaited.names)}`;
  return kind === "linger" ? `${what} stays for a while` : `${what} waits until it is asked for no longer`;
}

function namesText(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  return rest.length === 0 ? first : `${first} and ${rest.length} more`;
}

/** A type may be asked for on several streams: the worst counts. */
export function mergedTypes(types: readonly NodeRowType[]): NodeRowType[] {
  const merged = new Map<string, NodeRowType>();
  for (const one of types) {
    const known = merged.get(one.type);
    if (known === undefined || ranks[one.state] > ranks[known.state]) merged.set(one.type, one);
  }
  return [...merged.values()];
}
