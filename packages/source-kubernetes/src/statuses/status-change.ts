import { isDeepStrictEqual } from "node:util";
import { controllerName } from "../objects/object-fault.js";
import type { ObjectShape } from "../objects/object-shape.js";
import { ownTypes, type RouteVerdict, rejectedType, type WantedStatus } from "../resources/attached/route-status.js";

/** The status that a route has, and of which state of it. */
export interface ObjectStatus {
  readonly resourceVersion: string;
  readonly parents: readonly ParentStatus[];
}

/** What some controller says of one parent. */
export interface ParentStatus {
  readonly parentRef: object;
  readonly controllerName: string;
  readonly conditions?: readonly StatusCondition[];
}

interface StatusCondition extends Omit<RouteVerdict, "type"> {
  readonly type: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** Reads the status of a route, as the API server writes it. */
export function readStatus(object: ObjectShape): ObjectStatus {
  const { metadata, status } = object as ObjectShape & { readonly status?: { readonly parents?: ParentStatus[] } };
  return { resourceVersion: metadata?.resourceVersion ?? "", parents: status?.parents ?? [] };
}

/** What a status is made with. */
export interface StatusContext {
  /** In milliseconds since 1970. */
  readonly now: number;
  /** What this server said last of rejections of this route. */
  readonly ownRejections: ReadonlySet<string>;
}

/**
 * Clients of another server may have rejected a route: while no own client rejects it, what that one wrote stays for so
 * long, in milliseconds.
 */
export const othersRejectionMs = 60 * 60_000;
/** As many entries as a status may have. */
const mostParents = 32;

/**
 * All entries of a route as they are to be; undefined: as they are. Those of other controllers, and conditions of ours
 * that we know nothing of, stay. What is about a newer state of the route than ours is not touched.
 */
export function changedParents(
  { parents }: ObjectStatus,
  wanted: WantedStatus,
  context: StatusContext,
): readonly ParentStatus[] | undefined {
  const own = parents.filter((one) => one.controllerName === controllerName);
  const isNewer = ({ observedGeneration = 0 }: StatusCondition) => observedGeneration > wanted.generation;
  if (own.some(({ conditions = [] }) => conditions.some(isNewer))) return undefined;
  const made = wanted.parents.flatMap(({ parentRef, conditions }) => {
    const known = own.find((one) => isDeepStrictEqual(one.parentRef, parentRef));
    if (conditions === undefined) return known ?? [];
    const next = conditionsOf(known?.conditions ?? [], conditions, wanted.generation, context);
    return { parentRef, controllerName, conditions: next };
  });
  const find = (parentRef: object) => made.find((one) => isDeepStrictEqual(one.parentRef, parentRef));
  const kept = parents.flatMap((one) => (one.controllerName === controllerName ? (find(one.parentRef) ?? []) : one));
  const added = made.filter(({ parentRef }) => !own.some((one) => isDeepStrictEqual(one.parentRef, parentRef)));
  const next = [...kept, ...added].slice(0, mostParents);
  return isDeepStrictEqual(next, parents) ? undefined : next;
}

function conditionsOf(
  before: readonly StatusCondition[],
  verdicts: readonly RouteVerdict[],
  observedGeneration: number,
  context: StatusContext,
): readonly StatusCondition[] {
  const made = verdicts.map((verdict) => {
    const known = before.find(({ type }) => type === verdict.type);
    // Clients of several servers may reject it, each in its own words: the first ones stay, however old they are, or
    // the servers would write their words over each other's.
    if (known !== undefined && isOthersRejection(known, observedGeneration, context)) return known;
    const lastTransitionTime =
      known?.status === verdict.status
        ? known.lastTransitionTime
        : new Date(context.now).toISOString().replace(/\.\d+/, "");
    return { ...verdict, observedGeneration, lastTransitionTime };
  });
  const isRecent = (one: StatusCondition) => Date.parse(one.lastTransitionTime) + othersRejectionMs > context.now;
  const isKept = (one: StatusCondition) =>
    !ownTypes.includes(one.type) || (isOthersRejection(one, observedGeneration, context) && isRecent(one));
  // The order of conditions is not ours to change.
  return [
    ...before.flatMap((one) => made.find(isOf(one.type)) ?? (isKept(one) ? one : [])),
    ...made.filter(({ type }) => !before.some(isOf(type))),
  ];
}

function isOf(type: string) {
  return (one: { readonly type: string }) => one.type === type;
}

/** Whether it is what another server wrote of a rejection. */
function isOthersRejection(one: StatusCondition, generation: number, { ownRejections }: StatusContext): boolean {
  return one.type === rejectedType && one.observedGeneration === generation && !ownRejections.has(one.message);
}
