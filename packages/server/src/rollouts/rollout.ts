import type { ResourceType, Version } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import {
  type RolloutOutcome,
  type RolloutRejection,
  type RolloutState,
  type RolloutStatus,
  shownAtMost,
} from "../contracts/rollout-status.js";
import type { FullRolloutSettings } from "../settings/rollout-settings.js";
import type { Member } from "./member.js";
import { idOf, type KeyChange, type Overrides } from "./overrides.js";
import { createShare, type Share } from "./share.js";

/** What a rollout needs of its group. */
export interface RolloutContext {
  readonly id: number;
  readonly group: string;
  readonly clock: Clock;
  /** All streams and polls of the group. */
  members(): Iterable<Member>;
  /** Whether a quarantine keeps some of the change from this one: what it acknowledges is not the change. */
  isKeptFrom(member: Member): boolean;
  /** Some members get another snapshot now. */
  spread(): void;
  report(outcome: RolloutOutcome): void;
}

/** One change that goes through a group by steps, or several that came one on top of the other. */
export interface RolloutMachine {
  readonly isUnderWay: boolean;
  /** What members that are not reached have instead of the newest. */
  readonly undo: Overrides;
  reaches(member: Member): boolean;
  /** The group has a new snapshot. Reached nodes get that, too, and the rollout starts again at the first step. */
  change(changes: Iterable<KeyChange>, settings: FullRolloutSettings): void;
  /** Some resources became different for all at once. */
  pass(changes: Iterable<KeyChange>): void;
  came(member: Member): void;
  left(member: Member): void;
  /** Its standing may have changed. */
  progressed(member: Member): void;
  rejected(member: Member, type: ResourceType, rejection: Rejection): void;
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
  /** The target version of each resource. */
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
  const reached = new Set<Member>();
  /** Of those that are reached and acknowledge. */
  const pending = new Set<Member>();
  const acknowledged = new Set<Member>();
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

  /** Reaches the members of the step, and waits for them. */
  function begin(outcome: RolloutOutcome): void {
    const next = settings.steps[step];
    if (next === undefined) {
      finish("completed");
      return;
    }
    shares.push(createShare(next, nodesThatAcknowledge()));
    const before = reached.size;
    for (const member of context.members()) if (belongs(member)) reached.add(member);
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
    for (const member of reached) note(member);
    stopTimer();
    stopTimer = clock.after(settings.timeoutMs, () => halt(timeoutReason()));
    goOn();
  }

  function note(member: Member): void {
    switch (member.client.standing?.()) {
      case "settled":
        pending.delete(member);
        if (context.isKeptFrom(member)) acknowledged.delete(member);
        else acknowledged.add(member);
        break;
      case "rejected":
        pending.delete(member);
        // The node may still reject something older; then it has answered all of this and rejected none of it.
        if (!rejections.has(member.node.id) && !context.isKeptFrom(member)) acknowledged.add(member);
        break;
      case "pending":
        if (!acknowledged.has(member)) pending.add(member);
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

  function belongs({ node, client }: Member): boolean {
    if (kept.has(node.id)) return true;
    // Each is asked: a step by count takes the node that comes.
    return shares.some((share) => share.has(node, client.standing !== undefined));
  }

  function* nodesThatAcknowledge(): Iterable<string> {
    const seen = new Set<string>();
    for (const { node, client } of context.members()) {
      if (client.standing === undefined || seen.has(node.id)) continue;
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
    for (const { node, kind } of context.members()) if (kind === "stream") all.add(node.id);
    const reachedNodes = new Set<string>();
    for (const { node, kind } of reached) if (kind === "stream") reachedNodes.add(node.id);
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
    reaches: (member) => !isUnderWay() || reached.has(member),
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
    came(member) {
      if (!isUnderWay() || !belongs(member)) return;
      reached.add(member);
      if (member.client.standing !== undefined) pending.add(member);
    },
    left(member) {
      reached.delete(member);
      acknowledged.delete(member);
      if (pending.delete(member)) goOn();
    },
    progressed(member) {
      if (!isUnderWay() || !reached.has(member) || acknowledged.has(member)) return;
      note(member);
      goOn();
    },
    rejected(member, type, rejection) {
      if (!isUnderWay() || !reached.has(member)) return;
      const about = concernOf(type, rejection);
      if (about.size === 0 || rejections.size >= Math.max(mostRejections, settings.haltAfter)) return;
      const { version, code, message } = rejection;
      const node = member.node.id;
      rejections.set(node, { node, type: type.name, version, code, message, at: new Date(), about });
      acknowledged.delete(member);
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

function distinct(members: Iterable<Member>): Set<string> {
  const ids = new Set<string>();
  for (const { node } of members) ids.add(node.id);
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
