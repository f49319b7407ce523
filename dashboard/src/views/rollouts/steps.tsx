import type { RolloutJson } from "../../api/types.js";
import { StateBar } from "../../parts/state.js";
import { numberText } from "../../text/counts.js";
import { acknowledgedOf, isUnderWay, stepName } from "./rollout-state.js";

type StepState = "done" | "now" | "later";

const signs: Readonly<Record<StepState, string>> = { done: "✓", now: "◐", later: "○" };

/** The steps of a rollout in a row; the last one is all nodes. Of the current one: how many nodes are how far. */
export function RolloutSteps({ rollout }: { readonly rollout: RolloutJson }) {
  const names = [...rollout.steps.map(stepName), "all"];
  return (
    <ol class="rollout-steps" aria-label="Steps">
      {names.map((name, index) => {
        const state = stateOf(rollout, index + 1, names.length);
        return (
          <li key={index} class={`step-${state}`} aria-current={state === "now" ? "step" : undefined}>
            <p>
              <span aria-hidden="true">{signs[state]}</span> <b>{name}</b>{" "}
              {state === "now" ? null : <span class="hidden">{state}</span>}
            </p>
            {state === "now" ? <Counts nodes={rollout.nodes} /> : null}
          </li>
        );
      })}
    </ol>
  );
}

function stateOf(rollout: RolloutJson, step: number, steps: number): StepState {
  if (rollout.state === "completed") return "done";
  if (step < rollout.step) return "done";
  // What is over stopped where it was.
  return step === rollout.step && step <= steps && isUnderWay(rollout) ? "now" : "later";
}

/** `8/10 ✕2`. */
function Counts({ nodes }: Pick<RolloutJson, "nodes">) {
  const { reached, pending, rejected } = nodes;
  const acknowledged = acknowledgedOf(nodes);
  return (
    <>
      <p class="step-counts">
        {numberText(acknowledged)}/{numberText(reached)}
        <span class="hidden"> acknowledged</span>
        {rejected > 0 ? (
          <span class="state-rejected">
            {" "}
            <span aria-hidden="true">✕</span>
            {numberText(rejected)}
            <span class="hidden"> rejected</span>
          </span>
        ) : null}
        {pending > 0 ? (
          <span class="state-pending">
            {" "}
            <span aria-hidden="true">◐</span>
            {numberText(pending)}
            <span class="hidden"> pending</span>
          </span>
        ) : null}
      </p>
      <StateBar counts={{ synced: acknowledged, pending, rejected }} />
    </>
  );
}
