import { canonicalName, type ResourceName, type ResourceType } from "@xdskit/api";
import type { Snapshot, StreamEvent } from "@xdskit/protocol";
import type { NameDecision } from "../contracts/parts/supply.js";
import { errorsOfLate, errorsOfRefused } from "./late-names.js";

type DecidedAbsence = Exclude<NameDecision, "found">;

/**
 * Requested names that were decided as absent, and that a stream's machine was not told yet. Thousands of names are
 * decided in one turn: the machine, which keeps sets of them, is told all at once.
 */
export class AbsentNames {
  readonly #byType = new Map<ResourceType, Map<ResourceName, DecidedAbsence>>();

  decided(type: ResourceType, name: ResourceName, outcome: NameDecision): void {
    const names = this.#byType.get(type);
    if (outcome === "found") names?.delete(name);
    else if (names !== undefined) names.set(name, outcome);
    else this.#byType.set(type, new Map([[name, outcome]]));
  }

  /**
   * The names that the machine's snapshot lacks. A decision is about the newest snapshot: a client that comes back
   * keeps what it has until the machine has the newest, too.
   */
  take(given: Snapshot | undefined): readonly StreamEvent[] {
    if (given === undefined || this.#byType.size === 0) return [];
    const events: StreamEvent[] = [];
    for (const [type, names] of this.#byType) {
      const set = given.of(type);
      const lacking = [...names].filter(([name]) => set.named(canonicalName(name)).length === 0);
      for (const [name] of lacking) names.delete(name);
      if (names.size === 0) this.#byType.delete(type);
      if (lacking.length === 0) continue;
      const decidedAs = (wanted: DecidedAbsence) =>
        lacking.filter(([, outcome]) => outcome === wanted).map(([name]) => name);
      const errors = [...errorsOfLate(decidedAs("late")), ...errorsOfRefused(decidedAs("refused"))];
      events.push({ kind: "absent", type, names: lacking.map(([name]) => name), errors });
    }
    return events;
  }
}
