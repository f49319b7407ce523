import type { Clock } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { FullRolloutSettings } from "../../settings/rollout-settings.js";
import { type KeyChange, resourceIn } from "./members/overrides.js";
import { RolloutChange } from "./steps/rollout-change.js";

/** A server that waits longer for its configuration starts with all that there is, in milliseconds. */
const longMs = 60_000;

/**
 * The changes of a group that come after what the server starts with, and before its nodes are told anything. Nodes of
 * other servers have what was there before, so these changes are as any others.
 */
export class EarlyChanges {
  readonly #change = new RolloutChange();
  #settings: FullRolloutSettings | undefined;
  /** When the last one came, in the clock's milliseconds. */
  #at = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(changes: Iterable<KeyChange>, how: FullRolloutSettings | "at-once"): void {
    if (how === "at-once") {
      this.#change.pass(changes);
      return;
    }
    this.#change.add(changes);
    this.#settings = how;
    this.#at = this.#clock.now();
  }

  /** What is left of them in the newest; undefined: nothing, or the others have brought them to their nodes by now. */
  left(newest: Snapshot): { readonly changes: readonly KeyChange[]; readonly how: FullRolloutSettings } | undefined {
    if (this.#settings === undefined || this.#clock.now() - this.#at > longMs) return undefined;
    if (this.#change.undo.size === 0) return undefined;
    const changes = Array.from(this.#change.undo.values(), ({ type, key, resource }) => {
      return { type, key, before: resource, after: resourceIn(newest, { type, key }) };
    });
    return { changes, how: this.#settings };
  }
}
