import type { Steps } from "@xdskit/api";
import type { LayerUpdate } from "@xdskit/server";
import type { CheckChange, ConfigMapTable, TakenConfigMap } from "./config-map-table.js";
import { updateOf } from "./made-resources.js";

/** A ConfigMap of a folder whose change was taken back. */
interface OfferedConfigMap {
  readonly layer: string;
  readonly table: ConfigMapTable;
  readonly taken: TakenConfigMap;
  /** The server did not refuse it before. */
  readonly isNew: boolean;
}

/** So many checks of the server for each ConfigMap: then the rest waits for the next publication. */
const mostChecks = 4;
/** To leave each one out costs a check. */
const mostLeftOut = 20;

/**
 * Finds which of many changes of ConfigMaps the server takes. It halves what is refused: one bad change among n costs
 * twice the logarithm of n checks, n bad ones cost 2 n, and others that need each other stay together where they can.
 * Others get a turn between checks.
 */
export class OfferedChanges {
  readonly #check: CheckChange<readonly LayerUpdate[]>;
  /** What the server takes. */
  readonly #good: LayerUpdate[] = [];
  readonly #accepted: Pick<OfferedConfigMap, "table" | "taken">[] = [];
  #checks = 0;
  #all = 0;
  #left: readonly OfferedConfigMap[] = [];

  constructor(check: CheckChange<readonly LayerUpdate[]>) {
    this.#check = check;
  }

  /** Takes those of these that the server takes; those that it refuses are told so. */
  *take(some: readonly OfferedConfigMap[]): Steps<void> {
    this.#all += some.length;
    this.#left = [...this.#left, ...(yield* this.#refusedOf(some))];
  }

  /** One that was taken may be what another one waits for, and two may need each other. */
  *takeMore(): Steps<void> {
    for (let before = this.#all; this.#left.length < before && this.#mayTry(2 * this.#left.length); ) {
      before = this.#left.length;
      this.#left = yield* this.#refusedOf(this.#left);
    }
    const { length } = this.#left;
    if (length < 3 || length > mostLeftOut || !this.#left.some(({ isNew }) => isNew)) return;
    for (const bad of this.#left) {
      if (!(yield* this.#isTaken(this.#left.filter((other) => other !== bad)))) continue;
      this.#left = [bad];
      return;
    }
  }

  /** What the server takes. It may have changed since it was asked: then nothing, and all are due again. */
  good(): readonly LayerUpdate[] {
    if (this.#good.length === 0 || this.#check(this.#good).length === 0) return this.#good;
    for (const { table, taken } of this.#accepted.toReversed()) table.undo(taken);
    return [];
  }

  #mayTry(checks: number): boolean {
    return this.#checks + checks <= mostChecks * this.#all;
  }

  *#refusedOf(some: readonly OfferedConfigMap[]): Steps<readonly OfferedConfigMap[]> {
    if (some.length === 0 || (yield* this.#isTaken(some))) return [];
    if (some.length === 1) return some;
    const half = Math.ceil(some.length / 2);
    return [...(yield* this.#refusedOf(some.slice(0, half))), ...(yield* this.#refusedOf(some.slice(half)))];
  }

  *#isTaken(some: readonly OfferedConfigMap[]): Steps<boolean> {
    yield;
    const offers = some.map(({ layer, table, taken }) => ({ layer, table, ...table.offer(taken) }));
    const updates = offers.flatMap(({ layer, change }) => updateOf(layer, change));
    this.#checks += 1;
    const findings = updates.length === 0 ? [] : this.#check([...this.#good, ...updates]);
    if (findings.length === 0) {
      this.#good.push(...updates);
      this.#accepted.push(...offers);
      for (const { table, taken } of some) table.accepted(taken);
      return true;
    }
    for (const { table, taken } of offers.toReversed()) table.back(taken);
    const [one] = some;
    if (some.length === 1) one?.table.refused(one.taken, findings);
    return false;
  }
}
