import type { FleetSummary } from "../../api/types.js";
import { nameOf, nodeStates, StateBar, signOf } from "../../parts/state.js";
import { linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import { setFilters } from "./filters.js";

const worstFirst = [...nodeStates].reverse();
/** How something was delivered: what is kept from a node is a matter of what it is to run. */
const deliveries = worstFirst.filter((state) => state !== "held-back");

/** All nodes as one bar with a button for each state, the worst first; pressed, only nodes of this state are shown. */
export function States({ summary, state }: { readonly summary: FleetSummary; readonly state: string }) {
  return (
    <section class="panel states-panel" aria-label="States">
      <StateBar counts={summary.states} />
      <fieldset class="states">
        <legend class="hidden">{counted(summary.nodes, "node")} by state</legend>
        {worstFirst.map((one) => (
          <button
            type="button"
            key={one}
            class={`state-button state-${one}${summary.states[one] === 0 ? " is-none" : ""}`}
            aria-pressed={state === one}
            onClick={() => setFilters({ state: state === one ? "" : one })}
          >
            <span aria-hidden="true">{signOf(one)}</span>
            <span class="state-count">{numberText(summary.states[one])}</span>
            <span class="state-name">{nameOf(one)}</span>
          </button>
        ))}
      </fieldset>
      <Axes revisions={summary.revisions} />
    </section>
  );
}

/** What nodes are to run, and how that was delivered. Where all are to run the newest, the bar says it already. */
function Axes({ revisions: { newest, before } }: Pick<FleetSummary, "revisions">) {
  if (sumOf(before) === 0) return null;
  return (
    <table class="axes">
      <caption class="hidden">What nodes are to run, and how it was delivered</caption>
      <thead>
        <tr>
          <th scope="col">To run</th>
          {deliveries.map((one) => (
            <th scope="col" key={one} class="number">
              {nameOf(one)}
            </th>
          ))}
          <th scope="col" class="number">
            nodes
          </th>
        </tr>
      </thead>
      <tbody>
        <Row name="the newest" counts={newest} />
        <Row name="what was before" counts={before} isBefore />
      </tbody>
    </table>
  );
}

function Row({
  name,
  counts,
  isBefore = false,
}: {
  readonly name: string;
  readonly counts: FleetSummary["states"];
  readonly isBefore?: boolean;
}) {
  return (
    <tr>
      <th scope="row">
        {name} {isBefore ? <a href={linkTo("rollouts")}>held back</a> : null}
      </th>
      {deliveries.map((one) => (
        <td key={one} class={`number${counts[one] === 0 ? " quiet" : ` state-${one}`}`}>
          {numberText(counts[one])}
        </td>
      ))}
      <td class="number">{numberText(sumOf(counts))}</td>
    </tr>
  );
}

function sumOf(counts: FleetSummary["states"]): number {
  return nodeStates.reduce((sum, state) => sum + counts[state], 0);
}
