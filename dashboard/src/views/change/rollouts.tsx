import { useState } from "preact/hooks";
import type { QuarantineJson, RolloutJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { StateBar } from "../../parts/state.js";
import { Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import { LeadRollout, type RolloutAction, rolloutActions, rolloutWords } from "./lead-rollout.js";
import { LiftQuarantine } from "./lift-quarantine.js";

/** Changes that go out in steps, and what is in quarantine. */
export function Rollouts() {
  const { data, renew } = useLive<{
    readonly rollouts: readonly RolloutJson[];
    readonly quarantines: readonly QuarantineJson[];
  }>("rollouts");
  const [led, setLed] = useState<{ readonly rollout: RolloutJson; readonly action: RolloutAction } | undefined>(
    undefined,
  );
  const [lifted, setLifted] = useState<QuarantineJson | undefined>(undefined);
  if (data === undefined || (data.rollouts.length === 0 && data.quarantines.length === 0)) return null;
  return (
    <>
      <h2>Rollouts</h2>
      {data.rollouts.map((rollout) => (
        <RolloutPanel key={rollout.group} rollout={rollout} lead={(action) => setLed({ rollout, action })} />
      ))}
      {led === undefined ? null : <LeadRollout {...led} done={renew} close={() => setLed(undefined)} />}
      {lifted === undefined ? null : (
        <LiftQuarantine quarantine={lifted} done={renew} close={() => setLifted(undefined)} />
      )}
      {data.quarantines.length === 0 ? null : (
        <section class="panel" aria-label="Quarantine">
          <h3>{counted(data.quarantines.length, "content")} in quarantine</h3>
          <ul class="findings">
            {data.quarantines.slice(0, 50).map((quarantine) => {
              const { group, type, name, cause, message } = quarantine;
              return (
                <li key={`${group} ${type} ${name}`}>
                  <b>{name}</b> <small>{`${type} of ${group}: ${message || cause}`}</small>{" "}
                  <button type="button" class="small" onClick={() => setLifted(quarantine)}>
                    Lift
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </>
  );
}

function RolloutPanel({ rollout, lead }: { readonly rollout: RolloutJson; lead(action: RolloutAction): void }) {
  const { group, state, reason, step, steps, since, changed, nodes, rejections } = rollout;
  const possible = (Object.keys(rolloutActions) as RolloutAction[]).filter((action) =>
    rolloutActions[action].includes(state),
  );
  const acknowledged = Math.max(0, nodes.reached - nodes.pending - nodes.rejected);
  return (
    <section class="panel" aria-label={`Rollout of ${group}`}>
      <header>
        <h3>
          {group}: {state} <small>{`step ${step} of ${steps.length}, ${counted(changed, "resource")}, `}</small>
          <small>
            <Time at={since} />
          </small>
        </h3>
        <div class="actions">
          {possible.map((action) => (
            <button
              type="button"
              key={action}
              class={action === "roll-back" ? "danger" : ""}
              onClick={() => lead(action)}
            >
              {rolloutWords[action]}
            </button>
          ))}
        </div>
      </header>
      {reason === "" ? null : <p>{reason}</p>}
      <div class="progress">
        <p>
          {acknowledged} of {nodes.reached} acknowledged, {nodes.pending} pending, {nodes.rejected} rejected;{" "}
          {nodes.held === 0 ? (
            "0 held back"
          ) : (
            <a href={linkTo("fleet", [], { group, state: "held-back" })}>{nodes.held} held back</a>
          )}
        </p>
        <StateBar
          counts={{
            synced: acknowledged,
            "held-back": nodes.held,
            pending: nodes.pending,
            rejected: nodes.rejected,
          }}
        />
      </div>
      <ul class="findings">
        {rejections.slice(0, 10).map(({ node, type, message }) => (
          <li key={`${node} ${type}`} class="finding-error">
            <a href={linkTo("node", [node])}>{node}</a> {type}: {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
