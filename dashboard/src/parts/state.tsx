import type { NodeStateName, StateCounts } from "../api/types.js";
import { numberText } from "../text/counts.js";

/** From the best to the worst. */
export const nodeStates: readonly NodeStateName[] = ["synced", "held-back", "pending", "stale", "rejected"];

/** A sign for each state: colour alone tells nothing to many people. */
const signs: Readonly<Record<string, string>> = {
  synced: "●",
  "held-back": "‖",
  pending: "◐",
  sent: "◐",
  "not-sent": "◔",
  stale: "◌",
  rejected: "✕",
  missing: "?",
};

export function signOf(state: string): string {
  return signs[state] ?? "●";
}

/** `held back`. */
export function nameOf(state: string): string {
  return state.replace("-", " ");
}

/** A state with its sign and name. */
export function State({ state, short = false }: { readonly state: string; readonly short?: boolean }) {
  return (
    <span class={`state state-${state}`} title={short ? nameOf(state) : undefined}>
      <span aria-hidden="true">{signOf(state)}</span>
      <span class={short ? "hidden" : ""}>{nameOf(state)}</span>
    </span>
  );
}

/** How many are how far, as a bar. */
export function StateBar({ counts }: { readonly counts: Partial<StateCounts> }) {
  const parts = nodeStates.flatMap((state) => {
    const count = counts[state] ?? 0;
    return count > 0 ? [{ state, count }] : [];
  });
  const text = parts.map(({ state, count }) => `${numberText(count)} ${nameOf(state)}`).join(", ");
  return (
    <span class="statebar" role="img" aria-label={text || "no nodes"} title={text}>
      {parts.map(({ state, count }) => (
        // A few among thousands must be seen, too.
        <span key={state} class={`bar-${state}`} style={{ flexGrow: count, minWidth: "4px" }} />
      ))}
      {parts.length === 0 ? <span class="bar-none" style={{ flexGrow: 1 }} /> : null}
    </span>
  );
}
