import type { Snapshot } from "@xdskit/protocol";
import type { FullRolloutSettings } from "../settings/rollout-settings.js";
import { type KeyChange, resourceIn } from "./overrides.js";
import { RolloutChange } from "./rollout-change.js";

/**
 * The changes of a group that come after what the server starts with, and before its nodes are told anything. Nodes of
 * other servers have what was there before, so these changes are as any others.
 */
export class EarlyChanges {
  readonly #change = new RolloutChange();
  #settings: FullRolloutSettings | undefined;
  /** When the last one came, in milliseconds since 1970. */
  #at = 0;

  note(changes: Iterable<KeyChange>, how: FullRolloutSettings | "at-once"): void {
    if (how === "at-once") {
      this.#change.pass(changes);
      return;
    }
    this.#change.add(changes);
    this.#settings = how;
    this.#at = Date.now();
  }

  /** What is left of them in the newest. `recordedAt`: a record of then knows all that came before. */
  left(
    newest: Snapshot,
    recordedAt: number,
  ): { readonly changes: readonly KeyChange[]; readonly how: FullRolloutSettings } | undefined {
    if (this.#settings === undefined || recordedAt >= this.#at || this.#change.undo.size === 0) return undefined;
    const changes = Array.from(this.#change.undo.values(), ({ type, key, resource }) => {
      return { type, key, before: resource, after: resourceIn(newest, { type, key }) };
    });
    return { changes, how: this.#settings };
  }
}
