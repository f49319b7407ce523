import {
  countDifferences,
  emptyResourceSet,
  isForAnswer,
  type ResourceSet,
  select,
  type TypeStatus,
  type Wait,
} from "@xdskit/protocol";
import { type NodeState, staleMs, type TypeReport, type WaitReport } from "../../contracts/nodes/node-status.js";
import type { ReportedStream } from "../../contracts/nodes/reported-stream.js";
import { heldBackOf } from "./held-back.js";
import type { Moment } from "./moment.js";
import { comesBackWords, type NextStep, unsentWords, waitText, waitWords, whyOf } from "./words.js";

/** A stream at one moment. */
export type StreamAt = Pick<
  ReportedStream,
  "snapshot" | "newest" | "rollout" | "heldBackWhy" | "comesBack" | "outOfSyncSince" | "lagFrom"
>;

/** The target of a client for a type, and its progress. `others`: all that the stream says of its types. */
export function typeReport(
  status: TypeStatus,
  stream: StreamAt,
  others: readonly TypeStatus[],
  moment: Moment,
): TypeReport {
  const { type, subscription, sent, acknowledged, rejected } = status;
  const { wanted, behind, progress, heldBack, state } = standingOf(status, stream, moment);
  const waits = waitReports(status.waits, others);
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
      resources: rejected.carried.length,
    },
    waits,
    heldBack,
    untoldTtls: status.untoldTtls,
    state,
    behind,
    lag: lagOf(status, progress, stream.lagFrom, moment),
    why: whyOf({ state, rejected, heldBack, next: comesNext(status, waits, behind, stream) }),
  };
}

/** What a client that does not have its target yet waits for. `waits`: those of the type. */
export function comesNext(
  { inFlightCount }: TypeStatus,
  waits: readonly WaitReport[],
  behind: number,
  { comesBack }: Pick<StreamAt, "comesBack">,
): NextStep {
  const [wait] = waits;
  if (inFlightCount > 0) return { reason: "not-answered", why: "waits for its ACK" };
  if (wait !== undefined) return { reason: "waits", why: waitText(wait) };
  return { reason: "not-sent", why: comesBack ? comesBackWords : unsentWords(behind) };
}

function lagOf(
  { sent, acknowledged, lackedSince }: TypeStatus,
  progress: NodeState,
  lagFrom: number,
  { date }: Moment,
): TypeReport["lag"] {
  // A client does not have to acknowledge a resource that it rejected.
  if (progress === "rejected") return undefined;
  if (progress !== "synced" && lackedSince !== undefined)
    return { from: date(Math.max(lackedSince, lagFrom)), to: undefined };
  if (sent === undefined) return undefined;
  const { at: to, published } = acknowledged ?? {};
  if (to === undefined || to < sent.at) return { from: date(sent.at), to: undefined };
  return { from: date(published === undefined ? sent.at : Math.max(published, lagFrom)), to: date(to) };
}

/** The waits, with the names of types. `statuses`: all that the stream says of its types. */
export function waitReports(waits: readonly Wait[], statuses: readonly TypeStatus[]): readonly WaitReport[] {
  const isRejected = (typeName: string, name: string) => {
    const { rejected, wanted } = statuses.find(({ type }) => type.name === typeName) ?? {};
    const refused = rejected?.after.get(name)?.version;
    return refused !== undefined && refused === wanted?.get(name)?.version;
  };
  return waits.map(({ kind, type, names, for: awaited }) => {
    const wait = { kind, for: awaited && { type: awaited.type.name, names: awaited.names } };
    return { ...wait, type: type.name, names, why: waitWords(wait, isRejected) };
  });
}

/** How far a client is with a type: the one answer, for all that shows it. */
export function standingOf(status: TypeStatus, stream: StreamAt, moment: Moment) {
  const wanted = stream.snapshot?.of(status.type);
  const behind = behindOf(status, wanted);
  const progress = progressOf(status, wanted, behind, stream.outOfSyncSince, moment);
  const heldBack = heldBackOf(status, wanted, stream);
  const state: NodeState = progress === "synced" && heldBack !== undefined ? "held-back" : progress;
  return { wanted, behind, progress, heldBack, state };
}

/** How many resources differ between what a client acknowledged and its target. */
export function behindOf(status: TypeStatus, wanted: ResourceSet | undefined): number {
  if (wanted === undefined) return 0;
  const { type, subscription, acknowledged, meanwhile } = status;
  // A resource that only stays for a while counts as done.
  const needed = wanted === status.wanted ? (meanwhile ?? wanted) : wanted;
  return countDifferences(subscription, acknowledged?.set ?? emptyResourceSet(type), needed);
}

/** How far a client is with its target, whatever its group keeps from it. */
function progressOf(
  { rejected, inFlightCount, waits, sent, acknowledged }: TypeStatus,
  wanted: ResourceSet | undefined,
  behind: number,
  outOfSyncSince: number,
  { now }: Moment,
): NodeState {
  if (rejected !== undefined) return "rejected";
  if (wanted !== undefined && inFlightCount + behind === 0 && !waits.some(isForAnswer)) return "synced";
  // No answer of the client is due here, so its silence means nothing. A change that waits for a rejected one does so
  // without a limit.
  if (inFlightCount === 0 && waits.length > 0) return "pending";
  // Of several responses in flight, the last one says little: a client that never answers is sent more and more.
  const since = inFlightCount === 1 ? (sent?.at ?? outOfSyncSince) : outOfSyncSince;
  return now - Math.max(acknowledged?.at ?? 0, since) > staleMs ? "stale" : "pending";
}
