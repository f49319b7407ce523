import type { Snapshot } from "@xdskit/protocol";
import type { FullRolloutSettings } from "../../../settings/rollout-settings.js";
import { begun, isOver, newCourse } from "../course/course.js";
import { type KeyChange, resourceIn } from "../members/overrides.js";
import { changeOf, pastAfter, type RolloutRecord } from "../records/record.js";
import type { NextRecord } from "../records/record-store.js";
import type { RolloutMachine } from "../steps/rollout.js";
import type { HeldChange } from "./course-step.js";
import type { Prepared } from "./group-side.js";

/** For this many milliseconds a server takes a change that it does not have for one that comes. */
const patienceMs = 2_000;

/** What a group's machine brings, by `changeOf`, and all that it brought before. */
export class BroughtChange {
  /** A change came here that nobody may know of yet. */
  isFresh = false;
  #change = "";
  readonly #history = new Set<string>();

  get change(): string {
    return this.#change;
  }

  is({ brings }: RolloutMachine): void {
    this.#change = changeOf(brings.list());
    this.#history.add(this.#change);
  }

  /** It is carried out with all others. */
  known(): void {
    this.isFresh = false;
    this.#history.clear();
    this.#history.add(this.#change);
  }

  forget(): void {
    this.#history.clear();
  }

  heldBack(rest: Pick<HeldChange, "isNothing" | "id" | "lastId">): HeldChange {
    return { ...rest, change: this.#change, history: this.#history, isFresh: this.isFresh };
  }
}

/** How long a change that this server does not have is waited for. */
export class ChangePatience {
  #asked = { change: "", at: 0 };

  isOver(change: string): boolean {
    const now = Date.now();
    if (this.#asked.change !== change) this.#asked = { change, at: now };
    return now - this.#asked.at >= patienceMs;
  }
}

/** The record that begins a rollout of a change, or goes on with the one under way. */
export function recordAfter(
  record: RolloutRecord | undefined,
  change: string,
  settings: FullRolloutSettings,
  now: number,
): NextRecord {
  const isOn = record !== undefined && !isOver(record.course);
  return {
    id: isOn ? record.id : (record?.id ?? 0) + 1,
    course: begun(isOn ? record.course : newCourse(settings), settings),
    change,
    past: pastAfter(record, change),
    startedAt: isOn ? record.startedAt : now,
    since: now,
  };
}

/** What differs now from what nodes have that the record's rollout has not reached. */
export function changesSince(prepared: Prepared, newest: Snapshot): readonly KeyChange[] {
  return [...prepared.values()].flatMap(({ type, key, from, resource }) => {
    const after = resourceIn(newest, { type, key });
    return after?.version === from ? [] : [{ type, key, before: resource, after }];
  });
}
