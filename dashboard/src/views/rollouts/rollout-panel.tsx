import type { RolloutJson } from "../../api/types.js";
import { NodeNames } from "../../parts/node-names.js";
import { Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import { RolloutButtons } from "./rollout-buttons.js";
import { RolloutDiff } from "./rollout-diff.js";
import { acknowledgedOf, byWords, isUnderWay } from "./rollout-state.js";
import { RolloutSteps } from "./steps.js";

/** One rollout: how far it is, who rejected it, what it changes, and what somebody can do. */
export function RolloutPanel({ rollout, done }: { readonly rollout: RolloutJson; done(): void }) {
  const { group, state, reason, since, changed } = rollout;
  return (
    <section class={`panel rollout rollout-${state}`} aria-label={`Rollout of ${group}`}>
      <header>
        <h2>
          {group}: {state} <small>{counted(changed, "resource")}, </small>
          <small>
            <Time at={since} />
          </small>
        </h2>
        <div class="actions">
          <RolloutButtons rollout={rollout} done={done} />
        </div>
      </header>
      {reason === "" ? null : <p>{reason}</p>}
      <RolloutSteps rollout={rollout} />
      <Nodes rollout={rollout} />
      <Rejections rollout={rollout} />
      {isUnderWay(rollout) ? <RolloutDiff rollout={rollout} /> : null}
    </section>
  );
}

function Nodes({ rollout: { group, nodes } }: { readonly rollout: RolloutJson }) {
  return (
    <p>
      {numberText(acknowledgedOf(nodes))} of {numberText(nodes.reached)} acknowledged, {numberText(nodes.pending)}{" "}
      pending, {numberText(nodes.rejected)} rejected;{" "}
      {nodes.held === 0 ? (
        "0 held back"
      ) : (
        <a href={linkTo("fleet", [], { group, state: "held-back" })}>{numberText(nodes.held)} held back</a>
      )}
    </p>
  );
}

function Rejections({ rollout: { rejections } }: { readonly rollout: RolloutJson }) {
  if (rejections.length === 0) return null;
  return (
    <ul class="findings">
      {[...byWords(rejections)].slice(0, 10).map(([words, nodes]) => (
        <li key={words} class="finding-error">
          {words}
          <br />
          <NodeNames ids={nodes} />
        </li>
      ))}
    </ul>
  );
}
