import { type Clock, XdskitError } from "@xdskit/api";
import type { Node, Snapshot } from "@xdskit/protocol";
import type { Events } from "../../contracts/events.js";
import type { Group } from "../../contracts/group.js";
import type { PlannedRollout } from "../../contracts/group-preview.js";
import type {
  GroupPolicy,
  MemberClient,
  MemberKind,
  PolicyGroup,
  TargetPolicy,
  Wish,
} from "../../contracts/parts/target-policy.js";
import type { LiftableQuarantine, QuarantineCause, Quarantined } from "../../contracts/rollouts/quarantined.js";
import type { RolloutAction } from "../../contracts/rollouts/rollout-sharing.js";
import { type Rollout, type RolloutOutcome, shownAtMost } from "../../contracts/rollouts/rollout-status.js";
import type { ViewStats } from "../../contracts/stats.js";
import { fullSettings } from "../../settings/rollout-settings.js";
import { inTime } from "../../stores/basics/in-time.js";
import { EarlyChanges } from "./early-changes.js";
import { GroupTargets, type Spread } from "./group-targets.js";
import type { GroupTargetsContext } from "./group-targets-context.js";
import type { Member } from "./members/member.js";
import { changesBetween } from "./members/overrides.js";
import type { QuarantineEntry } from "./quarantine/quarantine.js";
import { RolloutSeat } from "./seat.js";
import type { SharedRolloutHub } from "./shared/shared-rollouts.js";
import type { RolloutMachine } from "./steps/rollout.js";

/** Rollouts and quarantines: they decide which snapshots the streams of all groups get. */
export interface Targets extends TargetPolicy {
  /** Rollouts are one for several servers from now on. Nodes are told nothing yet. */
  share(hub: SharedRolloutHub): void;
  rollouts(): readonly Rollout[];
  quarantines(): readonly LiftableQuarantine[];
  stats(): ViewStats;
  /** The server closes: ends all rollouts. */
  close(): void;
}

/** The parts that the groups of a server share. */
interface SharedByGroups {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly groups: Set<TargetedGroup>;
  readonly outcomes: Map<RolloutOutcome, number>;
  readonly causes: Map<QuarantineCause, number>;
  rollouts: number;
  /** Rollouts are one for several servers. */
  hub: SharedRolloutHub | undefined;
}

export function createTargets(clock: Clock, events: Pick<Events, "emit">): Targets {
  const groups = new Set<TargetedGroup>();
  const shared: SharedByGroups = {
    clock,
    events,
    groups,
    outcomes: new Map(),
    causes: new Map(),
    rollouts: 0,
    hub: undefined,
  };
  let isOpen = false;
  return {
    share(hub) {
      if (shared.hub !== undefined || isOpen) throw shareTooLate();
      shared.hub = hub;
      for (const group of groups) group.lookAnew();
    },
    prepare: () => (isOpen ? undefined : shared.hub && inTime(() => shared.hub?.prepare())),
    catchUp: () => shared.hub?.catchUp(),
    opened() {
      isOpen = true;
      for (const group of groups) group.opened();
      shared.hub?.opened();
    },
    open(opened) {
      const group = new TargetedGroup(shared, opened);
      groups.add(group);
      if (isOpen) group.opened();
      return group;
    },
    rollouts: () => [...groups].flatMap((group) => group.rollout() ?? []),
    quarantines: () => [...groups].flatMap((group) => group.quarantines()),
    stats: () => ({
      rollouts: Array.from(shared.outcomes, ([outcome, count]) => ({ outcome, count })),
      quarantined: Array.from(shared.causes, ([cause, count]) => ({ cause, count })),
    }),
    close() {
      // The store finds out by itself if it cannot be told now.
      void shared.hub?.close().catch(() => {});
      for (const { targets } of groups) targets?.close();
    },
  };
}

/** A member costs one entry in a set until the group's settings, or a change, ask for more. */
class TargetedGroup implements GroupPolicy, GroupTargetsContext {
  readonly #shared: SharedByGroups;
  #rollout: Group["rollout"];
  readonly #opened: PolicyGroup;
  readonly group: string;
  keepsLastGood = false;
  readonly members = new Set<Member>();
  lastOrder = 0;
  targets: GroupTargets | undefined;
  #isOpen = false;
  #early: EarlyChanges | undefined;

  constructor(shared: SharedByGroups, opened: PolicyGroup) {
    this.#shared = shared;
    this.#opened = opened;
    this.group = opened.settings.name;
    this.use(opened.settings);
  }

  newest(): Snapshot | undefined {
    return this.#opened.newest();
  }

  /** Takes these settings from now on. A rollout in progress goes on as it began. */
  use({ rollout, onReject }: Group): void {
    this.#rollout = rollout;
    this.keepsLastGood = onReject === "lastGood";
    if (this.keepsLastGood || typeof rollout === "object") this.#look();
    this.targets?.quarantine.settingsChanged();
  }

  get shared(): SharedRolloutHub | undefined {
    return this.#shared.hub;
  }

  /** Its nodes are told something from now on. */
  opened(): void {
    this.#isOpen = true;
    const record = this.shared?.recordOf(this.group);
    if (record !== undefined) this.#look();
    this.targets?.open();
    const newest = this.newest();
    const early = newest && this.#early?.left(newest);
    this.#early = undefined;
    if (early !== undefined) this.#look().newestChangedBy(early.changes, early.how);
  }

  /** Nothing has happened yet. */
  lookAnew(): void {
    if (this.targets === undefined) return;
    this.targets = undefined;
    this.#look();
  }

  #look(): GroupTargets {
    if (this.targets !== undefined) return this.targets;
    this.targets = new GroupTargets(this);
    if (this.#isOpen) this.targets.open();
    return this.targets;
  }

  get clock(): Clock {
    return this.#shared.clock;
  }

  /** Whether all its streams get the newest. */
  get isPlain(): boolean {
    return this.targets === undefined;
  }

  join(node: Node, kind: MemberKind, client: MemberClient): RolloutSeat {
    this.lastOrder += 1;
    const seat = new RolloutSeat(this, node, kind, client, this.lastOrder);
    this.members.add(seat);
    this.targets?.came(seat);
    return seat;
  }

  /** How a change of the newest snapshot would go to the nodes; undefined: at once. */
  planned(before: Snapshot, after: Snapshot): PlannedRollout | undefined {
    const spread = this.#spreadOf(undefined);
    return typeof spread === "object" ? this.#look().planned(changesBetween(before, after), spread) : undefined;
  }

  /** The group's newest snapshot has changed. */
  newestChanged(before: Snapshot, after: Snapshot, wish: Wish): void {
    const spread = this.#spreadOf(wish);
    if (typeof spread === "object") this.#look();
    this.targets?.newestChanged(before, after, spread);
  }

  /** Whether changes that come before nodes are told anything go by steps, as at other servers. */
  get countsEarly(): boolean {
    return this.shared !== undefined && typeof this.#rollout === "object";
  }

  /** The newest snapshot has changed, and nodes are told nothing yet. */
  newestChangedEarly(before: Snapshot, after: Snapshot, wish: Wish): void {
    const spread = this.#spreadOf(wish);
    if (!this.countsEarly || spread === "on-demand") return;
    this.#early ??= new EarlyChanges(this.clock);
    this.#early.note(changesBetween(before, after), spread);
  }

  #spreadOf(wish: Wish): Spread {
    const plan = wish ?? this.#rollout ?? "off";
    if (plan === "on-demand") return plan;
    return plan === "off" ? "at-once" : fullSettings(plan);
  }

  /** The snapshots that its streams have now, if these are not only the newest. */
  snapshots(): Iterable<Snapshot> {
    return this.targets?.snapshots() ?? [];
  }

  close(): void {
    this.#shared.groups.delete(this);
    this.targets?.close();
  }

  rollout(): Rollout | undefined {
    const { targets } = this;
    const rollout = targets?.rollout;
    if (rollout === undefined) return undefined;
    const { hub } = this.#shared;
    if (hub !== undefined) return this.#ofAll(hub, rollout);
    return {
      ...rollout.status(),
      promote: () => rollout.end("completed"),
      rollBack: () => targets?.rollout === rollout && targets.rollBack(),
      halt: (reason = "by hand") => rollout.halt(reason),
      resume: () => rollout.resume(),
    };
  }

  /** Led at the store: true says that it applies as far as this server knows. */
  #ofAll(hub: SharedRolloutHub, rollout: RolloutMachine): Rollout {
    const { isUnderWay } = rollout;
    const status = rollout.status();
    const { state, id } = status;
    const lead = (applies: boolean, action: RolloutAction, reason?: string) => {
      if (applies) hub.lead(this.group, action, { id, reason }).catch((error: unknown) => hub.failed(error));
      return applies;
    };
    return {
      ...status,
      promote: () => lead(isUnderWay, "promote"),
      rollBack: () => lead(isUnderWay, "rollBack"),
      halt: (reason) => lead(isUnderWay && state !== "halted", "halt", reason),
      resume: () => lead(state === "halted", "resume"),
    };
  }

  quarantines(): readonly LiftableQuarantine[] {
    return Array.from(this.targets?.quarantine.contents.entries() ?? [], (entry) => ({
      ...quarantined(this.group, entry),
      lift: () => this.targets?.quarantine.lift(entry) === true,
    }));
  }

  nextId(): number {
    this.#shared.rollouts += 1;
    return this.#shared.rollouts;
  }

  spread(): void {
    for (const { client } of this.members) client.targetChanged();
    this.#opened.targetsChanged();
  }

  rolloutIs(outcome: RolloutOutcome, rollout: RolloutMachine): void {
    const { events, outcomes } = this.#shared;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    events.emit("rollout", () => ({ outcome, rollout: rollout.status() }));
  }

  quarantineIs(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void {
    const { events, causes } = this.#shared;
    const { group } = this;
    if (outcome === "began") for (const { cause } of entries) causes.set(cause, (causes.get(cause) ?? 0) + 1);
    events.emit("quarantine", () => {
      const resources = entries.slice(0, shownAtMost).map((entry) => quarantined(group, entry));
      return { outcome, group, count: entries.length, resources };
    });
  }
}

function shareTooLate(): XdskitError {
  const message = "server.shareRollouts: rollouts are shared before the server has a configuration, and once";
  return XdskitError.of("XDSKIT_SERVER_OPTION", message);
}

function quarantined(
  group: string,
  { type, key, version, instead, cause, since, node, message }: QuarantineEntry,
): Quarantined {
  return { group, type: type.name, name: key, version, instead: instead?.version, cause, since, node, message };
}
