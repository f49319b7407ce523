import type { Clock, ResourceType } from "@xdskit/api";
import type { Node, Rejection, Snapshot } from "@xdskit/protocol";
import type { Group } from "../configuration/groups.js";
import type { Events } from "../contracts/events.js";
import type { LiftableQuarantine, QuarantineCause, Quarantined } from "../contracts/quarantined.js";
import { type Rollout, type RolloutOutcome, shownAtMost } from "../contracts/rollout-status.js";
import type { ViewStats } from "../contracts/stats.js";
import { fullSettings, type RolloutSettings } from "../settings/rollout-settings.js";
import { GroupView, type GroupViewContext } from "./group-view.js";
import type { Member, ViewClient } from "./member.js";
import type { QuarantineEntry } from "./quarantine.js";
import type { RolloutMachine } from "./rollout.js";

/**
 * How a change goes out: by these steps, by the group's settings (undefined), at once for all (`off`), or as a
 * supplied resource.
 */
export type Wish = RolloutSettings | "off" | "on-demand" | undefined;

/** What every group's streams get. */
export type Views = ReturnType<typeof createViews>;

/** A group and its members, for those who do not look into it. */
export type ViewedGroup = Pick<GroupOfViews, "join" | "isPlain" | "changed" | "use" | "snapshots" | "close">;

/** Where a stream, or a poll, sits in its group. */
export interface Seat {
  /** The snapshot it gets instead of, or as, the newest; undefined while that is not decided yet. */
  snapshot(newest: Snapshot): Snapshot | undefined;
  /** It is still to be decided; undefined where that takes no time. */
  readonly isAwaited?: boolean;
  progressed(): void;
  rejected(type: ResourceType, rejection: Rejection, isWhole: boolean): void;
  /** The member can be asked for the last time. */
  ends(): void;
  leave(): void;
}

/** What the groups of a server share. */
interface Shared {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly groups: Set<GroupOfViews>;
  readonly outcomes: Map<RolloutOutcome, number>;
  readonly causes: Map<QuarantineCause, number>;
  rollouts: number;
}

export function createViews(clock: Clock, events: Pick<Events, "emit">) {
  const groups = new Set<GroupOfViews>();
  const shared: Shared = { clock, events, groups, outcomes: new Map(), causes: new Map(), rollouts: 0 };
  return {
    /** `newest` is the group's target in the end; `respread` is called when its pulse may have changed. */
    open(...of: [group: Group, newest: () => Snapshot | undefined, respread: () => void]): ViewedGroup {
      const group = new GroupOfViews(shared, ...of);
      groups.add(group);
      return group;
    },
    rollouts: (): readonly Rollout[] => [...groups].flatMap((group) => group.rollout() ?? []),
    quarantines: (): readonly LiftableQuarantine[] => [...groups].flatMap((group) => group.quarantines()),
    stats: (): ViewStats => ({
      rollouts: Array.from(shared.outcomes, ([outcome, count]) => ({ outcome, count })),
      quarantined: Array.from(shared.causes, ([cause, count]) => ({ cause, count })),
    }),
    /** The server closes: no rollout goes on. */
    close() {
      for (const { view } of groups) view?.close();
    },
  };
}

/** A member costs one entry in a set until the group's settings, or a change, ask for more. */
class GroupOfViews implements GroupViewContext {
  readonly #shared: Shared;
  #rollout: Group["rollout"];
  readonly #respread: () => void;
  readonly group: string;
  keepsLastGood = false;
  readonly newest: () => Snapshot | undefined;
  readonly members = new Set<Member>();
  lastOrder = 0;
  view: GroupView | undefined;

  constructor(shared: Shared, group: Group, newest: () => Snapshot | undefined, respread: () => void) {
    this.#shared = shared;
    this.#respread = respread;
    this.group = group.name;
    this.newest = newest;
    this.use(group);
  }

  /** The settings are these from now on. A rollout that is under way goes on as it began. */
  use({ rollout, onReject }: Group): void {
    this.#rollout = rollout;
    this.keepsLastGood = onReject === "lastGood";
    if (this.keepsLastGood || typeof rollout === "object") this.view ??= new GroupView(this);
    this.view?.settingsChanged();
  }

  get clock(): Clock {
    return this.#shared.clock;
  }

  /** All its streams get the newest. */
  get isPlain(): boolean {
    return this.view === undefined;
  }

  join(node: Node, kind: Member["kind"], client: ViewClient): Seat {
    this.lastOrder += 1;
    const member = { node, kind, client, order: this.lastOrder };
    this.members.add(member);
    this.view?.rollout?.came(member);
    return {
      snapshot: (newest) => this.view?.snapshotFor(member, newest) ?? newest,
      progressed: () => this.view?.rollout?.progressed(member),
      rejected: (...about) => this.view?.rejected(member, ...about),
      ends: () => {
        // First, or a rollout that goes on because of it would count on it.
        this.members.delete(member);
        this.view?.ends(member);
      },
      leave: () => {
        if (this.members.delete(member)) this.view?.rollout?.left(member);
      },
    };
  }

  /** The group's newest snapshot became another. */
  changed(before: Snapshot, after: Snapshot, wish: Wish): void {
    const plan = wish ?? this.#rollout ?? "off";
    if (typeof plan === "object") this.view ??= new GroupView(this);
    if (plan === "on-demand") this.view?.changed(before, after, "on-demand");
    else this.view?.changed(before, after, plan === "off" ? "at-once" : fullSettings(plan));
  }

  /** What its streams have now, where that is not only the newest. */
  snapshots(): Iterable<Snapshot> {
    return this.view?.snapshots() ?? [];
  }

  close(): void {
    this.#shared.groups.delete(this);
    this.view?.close();
  }

  rollout(): Rollout | undefined {
    const { view } = this;
    const rollout = view?.rollout;
    if (rollout === undefined) return undefined;
    return {
      ...rollout.status(),
      promote: () => rollout.end("completed"),
      rollBack: () => view?.rollout === rollout && view.rollBack(),
      halt: (reason = "by hand") => rollout.halt(reason),
      resume: () => rollout.resume(),
    };
  }

  quarantines(): readonly LiftableQuarantine[] {
    return Array.from(this.view?.quarantine ?? [], (entry) => ({
      ...quarantined(this.group, entry),
      lift: () => this.view?.lift(entry) === true,
    }));
  }

  nextId(): number {
    this.#shared.rollouts += 1;
    return this.#shared.rollouts;
  }

  spread(): void {
    for (const { client } of this.members) client.changed();
    this.#respread();
  }

  rolloutIs(outcome: RolloutOutcome, rollout: RolloutMachine): void {
    const { events, outcomes } = this.#shared;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    events.emit(() => ({ kind: "rollout", outcome, rollout: rollout.status() }));
  }

  quarantineIs(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void {
    const { events, causes } = this.#shared;
    const { group } = this;
    if (outcome === "began") for (const { cause } of entries) causes.set(cause, (causes.get(cause) ?? 0) + 1);
    events.emit(() => {
      const resources = entries.slice(0, shownAtMost).map((entry) => quarantined(group, entry));
      return { kind: "quarantine", outcome, group, count: entries.length, resources };
    });
  }
}

function quarantined(
  group: string,
  { type, key, version, instead, cause, since, node, message }: QuarantineEntry,
): Quarantined {
  return { group, type: type.name, name: key, version, instead: instead?.version, cause, since, node, message };
}
