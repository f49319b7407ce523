import type { Snapshot } from "@xdskit/protocol";
import type { RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { GroupPolicy, MemberClient, PolicyGroup, Seat, TargetPolicy } from "../contracts/parts/target-policy.js";
import { allOf, catchUpAll } from "../publication/catch-up.js";
import { plainPolicy } from "../publication/plain-policy.js";

/** One policy of several: each gets the choice of the one before it. None: every member gets the newest snapshot. */
export function joinedPolicies(each: readonly TargetPolicy[]): TargetPolicy {
  const [first = plainPolicy, ...more] = each;
  if (more.length === 0) return first;
  return {
    prepare: () => allOf(each.map((one) => one.prepare?.())),
    opened() {
      for (const one of each) one.opened?.();
    },
    catchUp: () => catchUpAll(each),
    open: (group) =>
      joinedGroup(
        each.map((one) => one.open(group)),
        group,
      ),
  };
}

function joinedGroup(each: readonly GroupPolicy[], group: PolicyGroup): GroupPolicy {
  return {
    get isPlain() {
      return each.every(({ isPlain }) => isPlain);
    },
    join(node, kind, client) {
      const seats: Seat[] = [];
      const seat = new JoinedSeat(seats);
      for (const [index, one] of each.entries())
        seats.push(
          one.join(
            node,
            kind,
            standingOfOwn(client, () => seat.hasChoiceOf(index, group.newest())),
          ),
        );
      return seat;
    },
    use(settings) {
      for (const one of each) one.use?.(settings);
    },
    planned: (before, after) => firstAnswer(each, (one) => one.planned?.(before, after)),
    newestChanged(before, after, wish) {
      for (const one of each) one.newestChanged?.(before, after, wish);
    },
    get countsEarly() {
      return each.some(({ countsEarly }) => countsEarly);
    },
    newestChangedEarly(before, after, wish) {
      for (const one of each) one.newestChangedEarly?.(before, after, wish);
    },
    *snapshots() {
      for (const one of each) yield* one.snapshots?.() ?? [];
    },
    close() {
      for (const one of each) one.close?.();
    },
  };
}

/** The member, as one policy of several sees it: it has not what others keep from it. */
function standingOfOwn(client: MemberClient, hasChoice: () => boolean): MemberClient {
  const { standing, status } = client;
  return {
    targetChanged: (newest) => client.targetChanged(newest),
    ...(standing && { standing: () => (hasChoice() ? standing.call(client) : "pending") }),
    ...(status && { status: () => status.call(client) }),
  };
}

/** The seats of one member, in the order of their policies. */
class JoinedSeat implements Seat {
  readonly #each: readonly Seat[];

  constructor(each: readonly Seat[]) {
    this.#each = each;
  }

  snapshot(newest: Snapshot): Snapshot | undefined {
    let target: Snapshot | undefined = newest;
    for (const seat of this.#each) target = target && seat.snapshot(target);
    return target;
  }

  /** Whether the member gets what this policy chose, and that was chosen from the newest. */
  hasChoiceOf(index: number, newest: Snapshot | undefined): boolean {
    let target = newest;
    let choice = newest;
    for (const [at, seat] of this.#each.entries()) {
      if (at === index && target !== newest) return false;
      target = target && seat.snapshot(target);
      if (at === index) choice = target;
    }
    return target === choice;
  }

  why(newest: Snapshot): string | undefined {
    return firstAnswer(this.#each, (seat) => seat.why?.(newest));
  }

  rollout(newest: Snapshot): RolloutAhead | undefined {
    return firstAnswer(this.#each, (seat) => seat.rollout?.(newest));
  }

  progressed(): void {
    for (const seat of this.#each) seat.progressed?.();
  }

  rejected(...rejection: Parameters<NonNullable<Seat["rejected"]>>): void {
    for (const seat of this.#each) seat.rejected?.(...rejection);
  }

  ends(): void {
    for (const seat of this.#each) seat.ends?.();
  }

  leave(): void {
    for (const seat of this.#each) seat.leave?.();
  }
}

/** What the first of them says that says anything. */
function firstAnswer<Asked, Answer>(
  each: readonly Asked[],
  ask: (one: Asked) => Answer | undefined,
): Answer | undefined {
  for (const one of each) {
    const answer = ask(one);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
