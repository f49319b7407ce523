import type { ResourceType, Version } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import type { Clock } from "../clock.js";
import { idOf, type KeyChange, type Overrides } from "./overrides.js";
import type { Place } from "./place.js";
import type { FullRolloutSettings } from "./rollout-settings.js";
import { type RolloutRejection, type RolloutState, type RolloutStatus, shownAtMost } from "./rollout-status.js";
import { createShare, type Share } from "./share.js";

/** What became of a rollout just now. */
export type RolloutOutcome =
  | "started"
  /** Another change came on top: it is at the first step again. */
  | "restarted"
  | "advanced"
  | "soaking"
  | "halted"
  | "resumed"
  | "completed"
  | "rolled-back"
  | "withdrawn";

/** What a rollout needs of its group. */
export interface RolloutContext {
  readonly id: number;
  readonly group: string;
  readonly clock: Clock;
  /** All streams and polls of the group. */
  places(): Iterable<Place>;
  /** Whether a quarantine keeps some of the change from this one: what it acknowledges is not the change. */
  isKeptFrom(place: Place): boolean;
  /** Some are to have another snapshot now. */
  spread(): void;
  report(outcome: RolloutOutcome): void;
}

/** One change on its way through a group, or several that came one on top of the other. */
export interface RolloutMachine {
  readonly isUnderWay: boolean;
  /** What those have who are not reached, in the place of the newest. */
  readonly undo: Overrides;
  reaches(place: Place): boolean;
  /** The group's newest snapshot became another. Nodes that were reached get that, too, and it begins at the first step. */
  change(changes: Iterable<KeyChange>, settings: FullRolloutSettings): void;
  /** Some resources became different for all at once. */
  pass(changes: Iterable<KeyChange>): void;
  came(place: Place): void;
  left(place: Place): void;
  /** Its standing may be another one. */
  progressed(place: Place): void;
  rejected(place: Place, type: ResourceType, rejection: Rejection): void;
  end(how: "completed" | "rolled-back"): boolean;
  halt(reason: string): boolean;
  resume(): boolean;
  status(): RolloutStatus;
  /** Waits for nothing any more. */
  close(): void;
}

/** Nodes come and go with ids of their own choice, and may all reject a change that halted. */
const mostRejections = 1_000;
/** Of what a rejection may be about so much is remembered: a change may be large, and rejected by many. */
const mostAbout = 100;

interface Noted extends RolloutRejection {
  /** What of the change it may be about: versions by resource, at most 100. */
  readonly about: ReadonlyMap<string, Version | undefined>;
}

export function createRollout(context: RolloutContext): RolloutMachine {
  const { id, group, clock } = context;
  const undo: Overrides = new Map();
  /** The version that each resource is to have. */
  const wanted = new Map<string, Version | undefined>();
  const rejections = new Map<string, Noted>();
  const startedAt = new Date();
  let since = startedAt;
  let settings: FullRolloutSettings = { steps: [], soakMs: 0, haltAfter: 1, timeoutMs: 1 };
  let state: RolloutState = "waiting";
  let reason = "";
  let step = 0;
  let shares: Share[] = [];
  /** Node ids that were reached by what this is on top of. */
  let kept = new Set<string>();
  const reached = new Set<Place>();
  /** Of those that are reached and acknowledge. */
  const pending = new Set<Place>();
  const acknowledged = new Set<Place>();
  /** The soak time of this step is over. */
  let soaked = false;
  /** Rejections that somebody has decided to go on with. */
  let forgiven = 0;
  let stopTimer = () => {};
  let final: RolloutStatus | undefined;

  const isUnderWay = () => state === "waiting" || state === "soaking" || state === "halted";

  function enter(next: RolloutState, outcome: RolloutOutcome): void {
    state = next;
    since = new Date();
    if (!isUnderWay()) {
      stopTimer();
      final = statusNow();
    }
    context.report(outcome);
  }

  /** Reaches who belongs to the step, and waits for those. */
  function begin(outcome: RolloutOutcome): void {
    const next = settings.steps[step];
    if (next === undefined) {
      finish("completed");
      return;
    }
    shares.push(createShare(next, nodesThatAcknowledge()));
    const before = reached.size;
    for (const place of context.places()) if (belongs(place)) reached.add(place);
    soaked = step > 0 && reached.size === before;
    state = "waiting";
    since = new Date();
    context.report(outcome);
    context.spread();
    wait();
  }

  function wait(): void {
    pending.clear();
    acknowledged.clear();
    for (const place of reached) note(place);
    stopTimer();
    stopTimer = clock.after(settings.timeoutMs, () => halt(timeoutReason()));
    goOn();
  }

  function note(place: Place): void {
    switch (place.subscriber.standing?.()) {
      case "settled":
        pending.delete(place);
        if (context.isKeptFrom(place)) acknowledged.delete(place);
        else acknowledged.add(place);
        break;
      case "rejected":
        pending.delete(place);
        // It may be something else that the node goes on rejecting, from before; then it answered all of this and rejected nothing of it.
        if (!rejections.has(place.node.id) && !context.isKeptFrom(place)) acknowledged.add(place);
        break;
      case "pending":
        if (!acknowledged.has(place)) pending.add(place);
        break;
      default:
    }
  }

  function goOn(): void {
    if (state !== "waiting" || pending.size > 0 || acknowledged.size === 0) return;
    stopTimer();
    if (soaked || settings.soakMs === 0) {
      advance();
      return;
    }
    stopTimer = clock.after(settings.soakMs, () => {
      soaked = true;
      state = "waiting";
      stopTimer = clock.after(settings.timeoutMs, () => halt(timeoutReason()));
      goOn();
    });
    enter("soaking", "soaking");
  }

  function advance(): void {
    step += 1;
    begin("advanced");
  }

  function finish(how: "completed" | "rolled-back" | "withdrawn"): void {
    step = Math.min(step, Math.max(0, settings.steps.length - 1));
    enter(how, how);
    context.spread();
  }

  function belongs({ node, subscriber }: Place): boolean {
    if (kept.has(node.id)) return true;
    // Each is asked: a step by count takes the node that comes.
    return shares.some((share) => share.has(node, subscriber.standing !== undefined));
  }

  function* nodesThatAcknowledge(): Iterable<string> {
    const seen = new Set<string>();
    for (const { node, subscriber } of context.places()) {
      if (subscriber.standing === undefined || seen.has(node.id)) continue;
      seen.add(node.id);
      yield node.id;
    }
  }

  function halt(why: string): boolean {
    if (!isUnderWay() || state === "halted") return false;
    stopTimer();
    reason = why;
    enter("halted", "halted");
    return true;
  }

  function haltIfRejected(): void {
    const count = rejections.size - forgiven;
    if (count < settings.haltAfter) return;
    const last = [...rejections.values()].at(-1);
    const nodes = count === 1 ? `node ${JSON.stringify(last?.node)}` : `${count} nodes`;
    halt(`${nodes} rejected it${last === undefined ? "" : `: ${last.message}`}`);
  }

  function timeoutReason(): string {
    const waited = `in ${duration(settings.timeoutMs)}`;
    const nodes = distinct(pending);
    if (nodes.size === 0) return `no node of step ${step + 1} acknowledged it ${waited}`;
    const [first] = nodes;
    const others = nodes.size > 1 ? ` and ${nodes.size - 1} more` : "";
    return `node ${JSON.stringify(first)}${others} did not acknowledge it ${waited}`;
  }

  /** What of the change a rejection may be about. */
  function concernOf(type: ResourceType, { blamed, carried, before, after }: Rejection): Noted["about"] {
    const about = new Map<string, Version | undefined>();
    const faulty = blamed && new Set(blamed);
    for (const resource of carried) {
      const id = idOf(resource);
      if (!wanted.has(id) || wanted.get(id) !== resource.version) continue;
      if (faulty === undefined || faulty.has(resource.name)) about.set(id, resource.version);
      if (about.size === mostAbout) return about;
    }
    if (faulty !== undefined || about.size > 0) return about;
    for (const keyed of undo.values()) {
      if (keyed.type !== type || wanted.get(idOf(keyed)) !== undefined) continue;
      if (before?.get(keyed.key) !== undefined && after.get(keyed.key) === undefined) about.set(idOf(keyed), undefined);
      if (about.size === mostAbout) break;
    }
    return about;
  }

  function statusNow(): RolloutStatus {
    const all = new Set<string>();
    for (const { node, way } of context.places()) if (way === "stream") all.add(node.id);
    const reachedNodes = new Set<string>();
    for (const { node, way } of reached) if (way === "stream") reachedNodes.add(node.id);
    const pendingNodes = distinct(pending);
    const held = state === "completed" ? 0 : all.size - reachedNodes.size;
    return {
      id,
      group,
      state,
      reason: state === "halted" ? reason : "",
      step: step + 1,
      steps: settings.steps,
      startedAt,
      since,
      changed: undo.size,
      resources: first(undo.values(), ({ type, key }) => ({ type: type.name, name: key })),
      nodes: {
        reached: all.size - held,
        pending: pendingNodes.size,
        rejected: rejections.size,
        held,
      },
      waitsFor: first(pendingNodes, (node) => node),
      rejections: first(rejections.values(), ({ about: _, ...told }) => told),
    };
  }

  return {
    get isUnderWay() {
      return isUnderWay();
    },
    undo,
    reaches: (place) => !isUnderWay() || reached.has(place),
    change(changes, newSettings) {
      for (const { type, key, before, after } of changes) {
        const id = idOf({ type, key });
        const known = undo.get(id);
        const base = known === undefined ? before : known.resource;
        if (base?.version === after?.version) {
          undo.delete(id);
          wanted.delete(id);
        } else {
          undo.set(id, { type, key, resource: base });
          wanted.set(id, after?.version);
        }
      }
      const isFirst = settings.steps.length === 0;
      settings = newSettings;
      for (const [node, { about }] of rejections) {
        const stands = [...about].some(([id, version]) => wanted.has(id) && wanted.get(id) === version);
        if (!stands) rejections.delete(node);
      }
      if (undo.size === 0) {
        finish("withdrawn");
        return;
      }
      kept = distinct(reached);
      shares = [];
      step = 0;
      forgiven = 0;
      reason = "";
      begin(isFirst ? "started" : "restarted");
      haltIfRejected();
    },
    pass(changes) {
      for (const change of changes) {
        undo.delete(idOf(change));
        wanted.delete(idOf(change));
      }
      if (undo.size === 0) finish("withdrawn");
    },
    came(place) {
      if (!isUnderWay() || !belongs(place)) return;
      reached.add(place);
      if (place.subscriber.standing !== undefined) pending.add(place);
    },
    left(place) {
      reached.delete(place);
      acknowledged.delete(place);
      if (pending.delete(place)) goOn();
    },
    progressed(place) {
      if (!isUnderWay() || !reached.has(place) || acknowledged.has(place)) return;
      note(place);
      goOn();
    },
    rejected(place, type, rejection) {
      if (!isUnderWay() || !reached.has(place)) return;
      const about = concernOf(type, rejection);
      if (about.size === 0 || rejections.size >= Math.max(mostRejections, settings.haltAfter)) return;
      const { version, code, message } = rejection;
      const node = place.node.id;
      rejections.set(node, { node, type: type.name, version, code, message, at: new Date(), about });
      acknowledged.delete(place);
      haltIfRejected();
    },
    end(how) {
      if (!isUnderWay()) return false;
      finish(how);
      return true;
    },
    halt,
    resume() {
      if (state !== "halted") return false;
      forgiven = rejections.size;
      reason = "";
      enter("waiting", "resumed");
      wait();
      return true;
    },
    status: () => final ?? statusNow(),
    close: () => stopTimer(),
  };
}

function distinct(places: Iterable<Place>): Set<string> {
  const ids = new Set<string>();
  for (const { node } of places) ids.add(node.id);
  return ids;
}

function duration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}

function first<From, To>(from: Iterable<From>, shown: (each: From) => To): To[] {
  const list: To[] = [];
  for (const each of from) {
    if (list.length === shownAtMost) break;
    list.push(shown(each));
  }
  return list;
}
