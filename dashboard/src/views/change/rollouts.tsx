import { useState } from "preact/hooks";
import { pathOf, post } from "../../api/request.js";
import { useLive } from "../../api/use-live.js";
import { Failure } from "../../parts/message.js";
import { StateBar } from "../../parts/state.js";
import { Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

interface Rollout {
  readonly id: number;
  readonly group: string;
  readonly state: string;
  readonly reason: string;
  readonly step: number;
  readonly steps: readonly unknown[];
  readonly since: string;
  readonly changed: number;
  readonly nodes: {
    readonly reached: number;
    readonly pending: number;
    readonly rejected: number;
    readonly held: number;
  };
  readonly rejections: readonly { readonly node: string; readonly type: string; readonly message: string }[];
}

interface Quarantine {
  readonly group: string;
  readonly type: string;
  readonly name: string;
  readonly cause: string;
  readonly message: string;
}

const actions = {
  resume: ["halted"],
  halt: ["waiting", "soaking"],
  promote: ["waiting", "soaking", "halted"],
  "roll-back": ["waiting", "soaking", "halted"],
} as const;

const words = { resume: "Resume", halt: "Halt", promote: "Promote to all", "roll-back": "Undo" } as const;

/** Changes that go out by steps, and what is in quarantine. */
export function Rollouts() {
  const { data, renew } = useLive<{
    readonly rollouts: readonly Rollout[];
    readonly quarantines: readonly Quarantine[];
  }>("rollouts");
  const [error, setError] = useState<Error | undefined>(undefined);
  if (data === undefined || (data.rollouts.length === 0 && data.quarantines.length === 0)) return null;
  const act = (path: string) =>
    post(path).then(
      () => {
        setError(undefined);
        renew();
      },
      (problem) => setError(problem as Error),
    );
  return (
    <>
      <h2>Rollouts</h2>
      {error === undefined ? null : <Failure error={error} />}
      {data.rollouts.map((rollout) => (
        <RolloutPanel
          key={rollout.group}
          rollout={rollout}
          act={(action) => void act(`rollouts/${pathOf(rollout.group)}/${action}`)}
        />
      ))}
      {data.quarantines.length === 0 ? null : (
        <section class="panel" aria-label="Quarantine">
          <h3>{counted(data.quarantines.length, "content")} in quarantine</h3>
          <ul class="findings">
            {data.quarantines.slice(0, 50).map(({ group, type, name, cause, message }) => (
              <li key={`${group} ${type} ${name}`}>
                <b>{name}</b> <small>{`${type} of ${group}: ${message || cause}`}</small>{" "}
                <button
                  type="button"
                  class="small"
                  onClick={() => void act(`quarantines/lift?${new URLSearchParams({ group, type, name })}`)}
                >
                  Lift
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function RolloutPanel({ rollout, act }: { readonly rollout: Rollout; act(action: string): void }) {
  const { group, state, reason, step, steps, since, changed, nodes, rejections } = rollout;
  const possible = (Object.keys(actions) as (keyof typeof actions)[]).filter((action) =>
    (actions[action] as readonly string[]).includes(state),
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
              onClick={() => act(action)}
            >
              {words[action]}
            </button>
          ))}
        </div>
      </header>
      {reason === "" ? null : <p>{reason}</p>}
      <div class="progress">
        <p>
          {acknowledged} of {nodes.reached} acknowledged, {nodes.pending} pending, {nodes.rejected} rejected;{" "}
          {nodes.held} keep what was before
        </p>
        <StateBar counts={{ synced: acknowledged, pending: nodes.pending, stale: 0, rejected: nodes.rejected }} />
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
