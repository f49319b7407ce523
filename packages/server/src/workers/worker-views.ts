import type { Resource, ResourceTypes } from "@xdskit/api";
import type { Node, Snapshot } from "@xdskit/protocol";
import { idOf } from "../basics/id-of.js";
import type { Group } from "../configuration/groups.js";
import { type Overrides, overlaid } from "../rollouts/overrides.js";
import type { Seat, ViewedGroup, Views } from "../rollouts/views.js";
import type { Session } from "../streams/session.js";
import type { PackedView } from "./messages.js";
import { createUnpacking, typeFrom } from "./packed-resources.js";

/** What becomes of streams in a worker, for the main thread, which decides what each is to have. */
export interface ViewsDesk {
  opened(session: Session, node: Node, group: Group): void;
  over(session: Session, group: Group): void;
  left(session: Session): void;
  rejected(session: Session, ...about: Parameters<Seat["rejected"]>): void;
}

/** The views of a worker: which a stream gets, the main thread says. */
export interface WorkerViews extends Views {
  add(view: PackedView): void;
  forget(id: number): void;
  /** 0: the newest. */
  see(session: Session, view: number): void;
}

export function createWorkerViews(types: ResourceTypes, desk: ViewsDesk): WorkerViews {
  const overrides = new Map<number, Overrides>();
  const seen = new WeakMap<Session, { view: number | undefined }>();
  const unpack = createUnpacking(types);
  /** By the newest that they are laid over, one for all streams of a view. */
  let laid = new WeakMap<Snapshot, Map<number, Snapshot>>();

  function viewOf(id: number, newest: Snapshot): Snapshot {
    const known = laid.get(newest) ?? new Map<number, Snapshot>();
    laid.set(newest, known);
    const snapshot = known.get(id) ?? overlaid(newest, overrides.get(id) ?? new Map());
    known.set(id, snapshot);
    return snapshot;
  }

  return {
    open(group, newest): ViewedGroup {
      return {
        // What each gets the main thread says, and it may be on its way.
        isPlain: false,
        join(node, _way, subscriber) {
          const session = subscriber as Session;
          const place: { view: number | undefined } = { view: undefined };
          seen.set(session, place);
          desk.opened(session, node, group);
          return {
            snapshot(newest) {
              if (place.view === undefined) return undefined;
              return place.view === 0 ? newest : viewOf(place.view, newest);
            },
            get isAwaited() {
              return place.view === undefined;
            },
            progressed() {},
            rejected: (...about) => desk.rejected(session, ...about),
            ends: () => desk.over(session, group),
            leave: () => desk.left(session),
          };
        },
        use: () => {},
        changed: () => {},
        *snapshots() {
          const current = newest();
          if (current !== undefined) for (const id of overrides.keys()) yield viewOf(id, current);
        },
        close() {},
      };
    },
    add({ id, overrides: packed }) {
      const made: Overrides = new Map();
      for (const { type, key, resource } of packed) {
        const content: Resource | undefined = resource && unpack(resource);
        const override = { type: typeFrom(types, type), key, resource: content };
        made.set(idOf(override), override);
      }
      overrides.set(id, made);
    },
    forget(id) {
      overrides.delete(id);
      laid = new WeakMap();
    },
    see(session, view) {
      const place = seen.get(session);
      if (place !== undefined) place.view = view;
    },
    rollouts: () => [],
    quarantines: () => [],
    stats: () => ({ rollouts: [], quarantined: [] }),
    close() {},
  };
}
