import type { ResourceType } from "@xdskit/api";
import type { Node, Rejection, Snapshot } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import type { Group } from "../configuration/groups.js";
import type { Events } from "../contracts/events.js";
import type { LiftableQuarantine, QuarantineCause, Quarantined } from "../contracts/quarantined.js";
import type { RolloutOutcome } from "../contracts/rollout-status.js";
import { type Rollout, shownAtMost } from "../contracts/rollout-status.js";
import type { ViewStats } from "../contracts/stats.js";
import { fullSettings, type RolloutSettings } from "../settings/rollout-settings.js";
import { createGroupView, type GroupView } from "./group-view.js";
import type { Member, ViewClient } from "./member.js";
import type { QuarantineEntry } from "./quarantine.js";

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

/**
 * How a change goes out: by these steps, by the group's settings (undefined), at once for all (`off`), or as a
 * supplied resource.
 */
export type Wish = RolloutSettings | "off" | "on-demand" | undefined;

/** A group and its members. A member costs one entry in a set until the group's settings, or a change, ask for more. */
export interface ViewedGroup {
  join(node: Node, kind: Member["kind"], client: ViewClient): Seat;
  /** All its streams get the newest. */
  readonly isPlain: boolean;
  /** The group's newest snapshot became another. */
  changed(before: Snapshot, after: Snapshot, wish: Wish): void;
  /** What its streams have now, where that is not only the newest. */
  snapshots(): Iterable<Snapshot>;
  close(): void;
}

/** What every group's streams get. */
export interface Views {
  /** `newest` is the group's target in the end; `respread` is called when its pulse may have changed. */
  open(group: Group, newest: () => Snapshot | undefined, respread: () => void): ViewedGroup;
  rollouts(): readonly Rollout[];
  quarantines(): readonly LiftableQuarantine[];
  stats(): ViewStats;
  /** The server closes: no rollout goes on. */
  close(): void;
}

export function createViews(clock: Clock, events: Pick<Events, "emit">): Views {
  const views = new Map<ViewedGroup, { readonly name: string; view(): GroupView | undefined }>();
  const outcomes = new Map<RolloutOutcome, number>();
  const causes = new Map<QuarantineCause, number>();
  let lastId = 0;
  let lastOrder = 0;

  function createView(
    group: Group,
    members: ReadonlySet<Member>,
    newest: () => Snapshot | undefined,
    respread: () => void,
  ) {
    const { name } = group;
    return createGroupView({
      group: name,
      clock,
      members,
      newest,
      keepsLastGood: group.onReject === "lastGood",
      lastOrder: () => lastOrder,
      nextId: () => ++lastId,
      spread() {
        for (const { client } of members) client.changed();
        respread();
      },
      rolloutIs(outcome, { status }) {
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        events.emit(() => ({ kind: "rollout", outcome, rollout: status() }));
      },
      quarantineIs(outcome, entries) {
        if (outcome === "began") for (const { cause } of entries) causes.set(cause, (causes.get(cause) ?? 0) + 1);
        const resources = () => entries.slice(0, shownAtMost).map((entry) => quarantined(name, entry));
        events.emit(() => ({
          kind: "quarantine",
          outcome,
          group: name,
          count: entries.length,
          resources: resources(),
        }));
      },
    });
  }

  return {
    open(group, newest, respread) {
      const members = new Set<Member>();
      const hasSettings = group.onReject === "lastGood" || typeof group.rollout === "object";
      let view = hasSettings ? createView(group, members, newest, respread) : undefined;
      const viewed: ViewedGroup = {
        get isPlain() {
          return view === undefined;
        },
        join(node, kind, client) {
          lastOrder += 1;
          const member = { node, kind, client, order: lastOrder };
          members.add(member);
          view?.came(member);
          return {
            snapshot: (newest) => (view === undefined ? newest : view.snapshotFor(member, newest)),
            progressed: () => view?.progressed(member),
            rejected: (...args) => view?.rejected(member, ...args),
            ends() {
              // First, or a rollout that goes on because of it would count on it.
              members.delete(member);
              view?.ends(member);
            },
            leave() {
              if (members.delete(member)) view?.left(member);
            },
          };
        },
        changed(before, after, wish) {
          const plan = wish ?? group.rollout ?? "off";
          if (typeof plan === "object") view ??= createView(group, members, newest, respread);
          if (plan === "on-demand") view?.changed(before, after, "on-demand");
          else view?.changed(before, after, plan === "off" ? "at-once" : fullSettings(plan));
        },
        snapshots: () => view?.snapshots() ?? [],
        close() {
          views.delete(viewed);
          view?.close();
        },
      };
      views.set(viewed, { name: group.name, view: () => view });
      return viewed;
    },
    rollouts() {
      const found: Rollout[] = [];
      for (const { view } of views.values()) {
        const rollout = view()?.rollout;
        if (rollout === undefined) continue;
        const isStill = () => view()?.rollout === rollout;
        found.push({
          ...rollout.status(),
          promote: () => isStill() && view()?.promote() === true,
          rollBack: () => isStill() && view()?.rollBack() === true,
          halt: (reason = "by hand") => rollout.halt(reason),
          resume: () => rollout.resume(),
        });
      }
      return found;
    },
    quarantines: () =>
      Array.from(views.values(), ({ name, view }) =>
        Array.from(view()?.quarantine ?? [], (entry) => ({
          ...quarantined(name, entry),
          lift: () => view()?.lift([entry]) === true,
        })),
      ).flat(),
    stats: () => ({
      rollouts: Array.from(outcomes, ([outcome, count]) => ({ outcome, count })),
      quarantined: Array.from(causes, ([cause, count]) => ({ cause, count })),
    }),
    close() {
      for (const { view } of views.values()) view()?.close();
    },
  };
}

function quarantined(
  group: string,
  { type, key, version, instead, cause, since, node, message }: QuarantineEntry,
): Quarantined {
  return { group, type: type.name, name: key, version, instead: instead?.version, cause, since, node, message };
}
