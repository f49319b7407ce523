import {
  countDifferences,
  emptyResourceSet,
  isForAnswer,
  type ResourceSet,
  select,
  type TypeStatus,
  type Wait,
} from "@xdskit/protocol";
import { type NodeState, staleMs, type TypeReport, type WaitReport } from "../contracts/nodes/node-status.js";
import type { Moment } from "./moment.js";
import type { ReportedStream } from "./reported-stream.js";

/** The target of a client for a type, and its progress. */
export function typeReport(
  status: TypeStatus,
  wanted: ResourceSet | undefined,
  stream: Pick<ReportedStream, "unsettledSince" | "withheldUntil">,
  moment: Moment,
): TypeReport {
  const { type, subscription, sent, acknowledged, rejected } = status;
  const behind = behindOf(status, wanted);
  const state = stateOf(status, wanted, behind, stream.unsettledSince, moment);
  return {
    type: type.name,
    typeUrl: type.typeUrl,
    wildcard: subscription.wildcard,
    names: subscription.names.size,
    resources: wanted === undefined ? 0 : select(wanted, subscription).size,
    wantedVersion: wanted?.version,
    sent: sent && { version: sent.version, at: moment.date(sent.at) },
    acknowledged: acknowledged && {
      version: acknowledged.version,
      at: acknowledged.at === undefined ? undefined : moment.date(acknowledged.at),
    },
    rejected: rejected && {
      version: rejected.version,
      at: moment.date(rejected.at),
      code: rejected.code,
      message: rejected.message,
      blamed: rejected.blamed,
    },
    waits: waitReports(status.waits),
    untoldTtls: status.untoldTtls,
    state,
    behind,
    lag: lagOf(status, state, stream.withheldUntil, moment),
  };
}

function lagOf(
  { sent, acknowledged, lackedSince }: TypeStatus,
  state: NodeState,
  withheldUntil: number,
  { date }: Moment,
): TypeReport["lag"] {
  // A client does not have to acknowledge a resource that it rejected.
  if (state === "rejected") return undefined;
  if (state !== "synced" && lackedSince !== undefined)
    return { from: date(Math.max(lackedSince, withheldUntil)), to: undefined };
  if (sent === undefined) return undefined;
  const { at: to, published } = acknowledged ?? {};
  if (to === undefined || to < sent.at) return { from: date(sent.at), to: undefined };
  return { from: date(published === undefined ? sent.at : Math.max(published, withheldUntil)), to: date(to) };
}

/** The waits, with the names of types. */
export function waitReports(waits: readonly Wait[]): readonly WaitReport[] {
  return waits.map(({ kind, type, names, for: awaited }) => ({
    kind,
    type: type.name,
    names,
    for: awaited && { type: awaited.type.name, names: awaited.names },
  }));
}

/** The state alone. */
export function typeState(
  status: TypeStatus,
  wanted: ResourceSet | undefined,
  unsettledSince: number,
  moment: Moment,
): NodeState {
  return stateOf(status, wanted, behindOf(status, wanted), unsettledSince, moment);
}

function behindOf(status: TypeStatus, wanted: ResourceSet | undefined): number {
  if (wanted === undefined) return 0;
  const { type, subscription, acknowledged, meanwhile } = status;
  // A resource that only stays for a while counts as done.
  const needed = wanted === status.wanted ? (meanwhile ?? wanted) : wanted;
  return countDifferences(subscription, acknowledged?.set ?? emptyResourceSet(type), needed);
}

function stateOf(
  { rejected, inFlightCount, waits, sent, acknowledged }: TypeStatus,
  wanted: ResourceSet | undefined,
  behind: number,
  unsettledSince: number,
  { now }: Moment,
): NodeState {
  if (rejected !== undefined) return "rejected";
  if (wanted !== undefined && inFlightCount + behind === 0 && !waits.some(isForAnswer)) return "synced";
  // No answer of the client is due here, so its silence means nothing. A change that a rejection holds back waits
  // without a limit.
  if (inFlightCount === 0 && waits.length > 0) return "pending";
  // Of several responses in flight, the last one says little: a client that never answers is sent more and more.
  const since = inFlightCount === 1 ? (sent?.at ?? unsettledSince) : unsettledSince;
  return now - Math.max(acknowledged?.at ?? 0, since) > staleMs ? "stale" : "pending";
}
