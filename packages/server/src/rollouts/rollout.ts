import type { Clock, ResourceType } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import {
  type RolloutOutcome,
  type RolloutRejection,
  type RolloutState,
  type RolloutStatus,
  shownAtMost,
} from "../contracts/rollout-status.js";
import { type FullRolloutSettings, fullSettings } from "../settings/rollout-settings.js";
import type { Member } from "./member.js";
import type { KeyChange, Overrides } from "./overrides.js";
import { type Concern, RolloutChange } from "./rollout-change.js";
import { createShare, type Share } from "./share.js";

/** What a rollout needs of its group. */
interface RolloutContext {
  readonly id: number;
  readonly group: string;
  readonly clock: Clock;
  /** All streams and polls of the group. */
  readonly members: Iterable<Member>;
  /** Whether a quarantine keeps some of the change from this one: what it acknowledges is not the change. */
  isKeptFrom(member: Member): boolean;
  /** Some members get another snapshot now. */
  spread(): void;
  report(outcome: RolloutOutcome): void;
}

/** Nodes come and go with ids of their own choice, and may all reject a change that halted. */
const mostRejections = 1_000;

interface Noted extends RolloutRejection {
  readonly about: Concern;
}

/** Where a rollout is, and what exists only there. */
type State =
  /** A timer runs: the timeout for what reached members still have to answer, or the soak time. */
  | { readonly kind: "waiting" | "soaking"; readonly since: Date; stop(): void }
  /** It goes no further by itself. */
  | { readonly kind: "halted"; readonly since: Date; readonly reason: string }
  /** Nothing changes any more: this is its last status. */
  | { readonly kind: "over"; readonly status: RolloutStatus };

/**
 * One change that goes through a group by steps, or several that came one on top of the other. A step reaches members
 * and waits for them, soaks, and then the next one begins.
 */
export class RolloutMachine {
  readonly #context: RolloutContext;
  readonly #change = new RolloutChange();
  readonly #rejections = new Map<string, Noted>();
  /** Rejections that somebody has decided to go on with. */
  #forgiven = 0;
  readonly #startedAt = new Date();
  #state: State = { kind: "waiting", since: this.#startedAt, stop() {} };
  #settings: FullRolloutSettings = fullSettings({ steps: [] });
  #step = 0;
  /** The soak time of this step is over. */
  #isSoaked = false;
  /** Who belongs to it: those that were reached by what this is on top of, then a share for each step that began. */
  #shares: Share[] = [];
  readonly #reached = new Set<Member>();
  /** Reached, and still to answer. */
  readonly #pending = new Set<Member>();
  /** Reached, and not pending. Others answered something else, or never answer. */
  readonly #acknowledged = new Set<Member>();

  constructor(context: RolloutContext) {
    this.#context = context;
  }

  get isUnderWay(): boolean {
    return this.#state.kind !== "over";
  }

  /** What members that are not reached have instead of the newest. */
  get undo(): Overrides {
    return this.#change.undo;
  }

  reaches(member: Member): boolean {
    return !this.isUnderWay || this.#reached.has(member);
  }

  /** The group has a new snapshot. Reached nodes get that, too, and the rollout starts again at the first step. */
  change(changes: Iterable<KeyChange>, settings: FullRolloutSettings): void {
    const isFirst = this.#shares.length === 0;
    this.#settings = settings;
    this.#change.add(changes);
    for (const [node, { about }] of this.#rejections) if (!this.#change.wants(about)) this.#rejections.delete(node);
    if (this.#isWithdrawn()) return;
    const kept = nodesOf(this.#reached);
    this.#shares = [{ has: ({ id }) => kept.has(id) }];
    this.#step = 0;
    this.#forgiven = 0;
    this.#begin(isFirst ? "started" : "restarted");
    this.#haltIfRejected();
  }

  /** Some resources became different for all at once. */
  pass(changes: Iterable<KeyChange>): void {
    this.#change.pass(changes);
    this.#isWithdrawn();
  }

  came(member: Member): void {
    if (!this.isUnderWay || !this.#belongs(member)) return;
    this.#reached.add(member);
    if (member.client.standing !== undefined) this.#pending.add(member);
  }

  left(member: Member): void {
    this.#reached.delete(member);
    this.#acknowledged.delete(member);
    if (this.#pending.delete(member)) this.#goOn();
  }

  /** Its standing may have changed. */
  progressed(member: Member): void {
    if (!this.isUnderWay || !this.#reached.has(member) || this.#acknowledged.has(member)) return;
    this.#note(member);
    this.#goOn();
  }

  rejected(member: Member, type: ResourceType, rejection: Rejection): void {
    if (!this.isUnderWay || !this.#reached.has(member)) return;
    const about = this.#change.concernOf(type, rejection);
    if (about.size === 0 || this.#rejections.size >= Math.max(mostRejections, this.#settings.haltAfter)) return;
    const { version, code, message } = rejection;
    const node = member.node.id;
    this.#rejections.set(node, { node, type: type.name, version, code, message, at: new Date(), about });
    this.#acknowledged.delete(member);
    this.#haltIfRejected();
  }

  end(how: "completed" | "rolled-back" | "withdrawn"): boolean {
    if (!this.isUnderWay) return false;
    this.#step = Math.min(this.#step, Math.max(0, this.#settings.steps.length - 1));
    this.#enter({ kind: "over", status: this.#statusIn(how, new Date(), "") }, how);
    this.#context.spread();
    return true;
  }

  halt(reason: string): boolean {
    if (!this.isUnderWay || this.#state.kind === "halted") return false;
    this.#enter({ kind: "halted", since: new Date(), reason }, "halted");
    return true;
  }

  resume(): boolean {
    if (this.#state.kind !== "halted") return false;
    this.#forgiven = this.#rejections.size;
    this.#enter(this.#waiting(), "resumed");
    this.#wait();
    return true;
  }

  status(): RolloutStatus {
    const state = this.#state;
    if (state.kind === "over") return state.status;
    return this.#statusIn(state.kind, state.since, state.kind === "halted" ? state.reason : "");
  }

  /** Waits for nothing any more. */
  close(): void {
    if ("stop" in this.#state) this.#state.stop();
  }

  #enter(next: State, outcome?: RolloutOutcome): void {
    this.close();
    this.#state = next;
    if (outcome !== undefined) this.#context.report(outcome);
  }

  #waiting(): State {
    const stop = this.#context.clock.after(this.#settings.timeoutMs, () => this.halt(this.#timeoutReason()));
    return { kind: "waiting", since: new Date(), stop };
  }

  #isWithdrawn(): boolean {
    return this.undo.size === 0 && this.end("withdrawn");
  }

  /** Reaches the members of the step, and waits for them. */
  #begin(outcome: RolloutOutcome): void {
    const step = this.#settings.steps[this.#step];
    if (step === undefined) {
      this.end("completed");
      return;
    }
    const { members } = this.#context;
    const acknowledging = [...members].filter(({ client }) => client.standing !== undefined);
    this.#shares.push(createShare(step, nodesOf(acknowledging)));
    const before = this.#reached.size;
    for (const member of members) if (this.#belongs(member)) this.#reached.add(member);
    this.#isSoaked = this.#step > 0 && this.#reached.size === before;
    this.#enter(this.#waiting(), outcome);
    this.#context.spread();
    this.#wait();
  }

  #wait(): void {
    this.#pending.clear();
    this.#acknowledged.clear();
    for (const member of this.#reached) this.#note(member);
    this.#goOn();
  }

  /** Looks at what a reached member that has not acknowledged the change says of it. */
  #note(member: Member): void {
    const standing = member.client.standing?.();
    if (standing === "pending") this.#pending.add(member);
    else this.#pending.delete(member);
    // A node that rejects may reject something older; then it has answered all of this and rejected none of it.
    const isAnswer = standing === "settled" || (standing === "rejected" && !this.#rejections.has(member.node.id));
    if (isAnswer && !this.#context.isKeptFrom(member)) this.#acknowledged.add(member);
  }

  #goOn(): void {
    if (this.#state.kind !== "waiting" || this.#pending.size > 0 || this.#acknowledged.size === 0) return;
    const { soakMs } = this.#settings;
    if (this.#isSoaked || soakMs === 0) {
      this.#step += 1;
      this.#begin("advanced");
      return;
    }
    const stop = this.#context.clock.after(soakMs, () => {
      this.#isSoaked = true;
      this.#enter(this.#waiting());
      this.#goOn();
    });
    this.#enter({ kind: "soaking", since: new Date(), stop }, "soaking");
  }

  #belongs({ node, client }: Member): boolean {
    // Each is asked: a step by count takes the node that comes.
    return this.#shares.some((share) => share.has(node, client.standing !== undefined));
  }

  #haltIfRejected(): void {
    const count = this.#rejections.size - this.#forgiven;
    if (count < this.#settings.haltAfter) return;
    const last = [...this.#rejections.values()].at(-1);
    const nodes = count === 1 ? `node ${JSON.stringify(last?.node)}` : `${count} nodes`;
    this.halt(`${nodes} rejected it${last === undefined ? "" : `: ${last.message}`}`);
  }

  #timeoutReason(): string {
    const waited = `in ${duration(this.#settings.timeoutMs)}`;
    const nodes = nodesOf(this.#pending);
    if (nodes.size === 0) return `no node of step ${this.#step + 1} acknowledged it ${waited}`;
    const [first] = nodes;
    const others = nodes.size > 1 ? ` and ${nodes.size - 1} more` : "";
    return `node ${JSON.stringify(first)}${others} did not acknowledge it ${waited}`;
  }

  #statusIn(state: RolloutState, since: Date, reason: string): RolloutStatus {
    const { id, group, members } = this.#context;
    const all = nodesOf([...members].filter(isStream)).size;
    const held = state === "completed" ? 0 : all - nodesOf([...this.#reached].filter(isStream)).size;
    const pending = nodesOf(this.#pending);
    return {
      id,
      group,
      state,
      reason,
      step: this.#step + 1,
      steps: this.#settings.steps,
      startedAt: this.#startedAt,
      since,
      changed: this.undo.size,
      resources: first(this.undo.values(), ({ type, key }) => ({ type: type.name, name: key })),
      nodes: { reached: all - held, pending: pending.size, rejected: this.#rejections.size, held },
      waitsFor: first(pending, (node) => node),
      rejections: first(this.#rejections.values(), ({ about: _, ...told }) => told),
    };
  }
}

function isStream({ kind }: Member): boolean {
  return kind === "stream";
}

function nodesOf(members: Iterable<Member>): Set<string> {
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
