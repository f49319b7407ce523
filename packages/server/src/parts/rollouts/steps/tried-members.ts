import type { RolloutRejection } from "../../../contracts/rollouts/rollout-status.js";
import type { Count, Course } from "../course/course.js";
import { createShare, nobody, positionOf, type Reach } from "../course/share.js";
import type { Member } from "../members/member.js";
import type { Concern } from "./rollout-change.js";

/** A rejection, and what it may be about. */
interface NotedRejection extends RolloutRejection {
  readonly about: Concern;
}

/**
 * The members that try a change: whom it has reached, and what they answered. A member that acknowledged it is not
 * pending, and both are reached; one that came while a step by count had room is none of these.
 */
export class TriedMembers {
  readonly #members: Iterable<Member>;
  readonly #isKeptFrom: (member: Member) => boolean;
  readonly #rejections = new Map<string, NotedRejection>();
  readonly #reached = new Set<Member>();
  /** Reached members that have not answered yet. */
  readonly #pending = new Set<Member>();
  /** Reached members that acknowledged the change. Others answered something else, or never answer. */
  readonly #acknowledged = new Set<Member>();
  /** Members that are not reached, of nodes that came while a step by count had room. */
  readonly #came = new Set<Member>();
  #share = createShare(nobody);
  /** How many members the step added. */
  #added = 0;

  /**
   * `members`: all of the group, now and later. `isKeptFrom`: whether a quarantine keeps some of the change from a
   * member, so that it does not acknowledge the change.
   */
  constructor(members: Iterable<Member>, isKeptFrom: (member: Member) => boolean) {
    this.#members = members;
    this.#isKeptFrom = isKeptFrom;
  }

  isReached(member: Member): boolean {
    return this.#reached.has(member);
  }

  /** The last rejection of each node, by its id. */
  get rejections(): ReadonlyMap<string, NotedRejection> {
    return this.#rejections;
  }

  /** The counts now. The lists are made when they are asked for. */
  count(course: Course): Count {
    return {
      list: course.list,
      turn: course.turn,
      pending: this.#pending.size,
      acknowledged: this.#acknowledged.size,
      added: this.#added,
      rejected: this.#rejections.size,
      waitsFor: () => nodesOf(this.#pending),
      rejections: () => [...this.#rejections.values()],
      candidates: () => Array.from(nodesOf(this.#choice(course)), positionOf),
    };
  }

  /** How many nodes have streams, how many of these are reached, and the ids of those that have not answered. */
  nodes(): { readonly all: number; readonly reached: number; readonly pending: ReadonlySet<string> } {
    const all = nodesOf([...this.#members].filter(isStream)).size;
    return { all, reached: nodesOf([...this.#reached].filter(isStream)).size, pending: nodesOf(this.#pending) };
  }

  /** A member came. True: the step may choose it. `hasRoom`: a step by count takes more. */
  came(member: Member, hasRoom: boolean): boolean {
    const acknowledges = member.client.standing !== undefined;
    if (this.#share.has(member.node)) {
      this.#reached.add(member);
      if (acknowledges) this.#pending.add(member);
      return false;
    }
    if (!acknowledges || !hasRoom) return false;
    this.#came.add(member);
    return true;
  }

  /** Returns whether it was waited for. */
  left(member: Member): boolean {
    this.#came.delete(member);
    this.#reached.delete(member);
    this.#acknowledged.delete(member);
    return this.#pending.delete(member);
  }

  /** The standing of a member may have changed. Returns whether it matters. */
  progressed(member: Member): boolean {
    if (!this.#reached.has(member) || this.#acknowledged.has(member)) return false;
    this.#note(member);
    return true;
  }

  rejected(member: Member, rejection: Omit<NotedRejection, "node">): void {
    const node = member.node.id;
    this.#rejections.set(node, { node, ...rejection });
    this.#acknowledged.delete(member);
  }

  /** Forgets the rejections that may be about nothing else than this. */
  forget(isOver: (about: Concern) => boolean): void {
    for (const [node, { about }] of this.#rejections) if (isOver(about)) this.#rejections.delete(node);
  }

  /** Reaches the members of the step that begins. */
  beginStep(reach: Reach): void {
    this.#share = createShare(reach);
    this.#came.clear();
    const before = this.#reached.size;
    for (const member of this.#members) if (this.#share.has(member.node)) this.#reached.add(member);
    this.#added = this.#reached.size - before;
  }

  /** Reaches the members that the step takes on top, and returns these. Call `ask` once they were told. */
  widen(reach: Reach): readonly Member[] {
    this.#share.widen(reach);
    const added: Member[] = [];
    for (const member of this.#members) {
      if (this.#reached.has(member) || !this.#share.has(member.node)) continue;
      this.#came.delete(member);
      this.#reached.add(member);
      added.push(member);
    }
    return added;
  }

  /** All reached members must answer anew. */
  askAnew(): void {
    this.#pending.clear();
    this.#acknowledged.clear();
    this.ask(this.#reached);
  }

  /** These reached members must answer. One that has asked for nothing yet is pending. */
  ask(members: Iterable<Member>): void {
    for (const member of members) this.#note(member);
  }

  /** Reads the answer of a reached member that has not acknowledged the change. */
  #note(member: Member): void {
    const standing = member.client.standing?.();
    if (standing === "pending") this.#pending.add(member);
    else this.#pending.delete(member);
    // A node that rejects may reject something older; then it has answered all of this and rejected none of it.
    const isAnswer = standing === "synced" || (standing === "rejected" && !this.#rejections.has(member.node.id));
    if (isAnswer && !this.#isKeptFrom(member)) this.#acknowledged.add(member);
  }

  #choice({ phase, step, settings }: Course): Iterable<Member> {
    if (phase !== "choosing") return this.#came;
    if ("match" in (settings.steps[step] ?? { match: {} })) return [];
    return [...this.#members].filter(({ client }) => client.standing !== undefined);
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
