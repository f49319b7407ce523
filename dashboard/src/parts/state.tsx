import type { NodeStateName, StateCounts } from "../api/types.js";
import { numberText } from "../text/counts.js";

/** From the best to the worst. */
export const nodeStates: readonly NodeStateName[] = ["synced", "pending", "stale", "rejected"];

/** A sign for each state: colour alone tells nothing to many people. */
const signs: Readonly<Record<string, string>> = {
  synced: "●",
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

/** A state with its sign and name. */
export function State({ state, short = false }: { readonly state: string; readonly short?: boolean }) {
  return (
    <span class={`state state-${state}`} title={short ? state : undefined}>
      <span aria-hidden="true">{signOf(state)}</span>
      <span class={short ? "hidden" : ""}>{state}</span>
    </span>
  );
}

/** How many are how far, as a bar. */
export function StateBar({ counts }: { readonly counts: StateCounts }) {
  const total = nodeStates.reduce((sum, state) => sum + counts[state], 0);
  const parts = nodeStates.filter((state) => counts[state] > 0);
  const text = parts.map((state) => `${numberText(counts[state])} ${state}`).join(", ");
  return (
    <span class="statebar" role="img" aria-label={text || "no nodes"} title={text}>
      {parts.map((state) => (
        // A few among thousands must be seen, too.
        <span key={state} class={`bar-${state}`} style={{ flexGrow: counts[state], minWidth: "4px" }} />
      ))}
      {total === 0 ? <span class="bar-none" style={{ flexGrow: 1 }} /> : null}
    </span>
  );
}
