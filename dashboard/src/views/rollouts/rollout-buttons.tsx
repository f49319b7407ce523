import { useState } from "preact/hooks";
import type { RolloutJson } from "../../api/types.js";
import { LeadRollout, type RolloutAction, rolloutActions, rolloutWords } from "./lead-rollout.js";

/** What somebody can do with a rollout now. `done`: something was done. */
export function RolloutButtons({ rollout, done }: { readonly rollout: RolloutJson; done(): void }) {
  // What was looked at: the rollout may go on while somebody reads.
  const [led, setLed] = useState<{ readonly rollout: RolloutJson; readonly action: RolloutAction } | undefined>(
    undefined,
  );
  const possible = (Object.keys(rolloutActions) as RolloutAction[]).filter((action) =>
    rolloutActions[action].includes(rollout.state),
  );
  // Who promotes what somebody rejected brings the rejection to all.
  const isDangerous = (action: RolloutAction) =>
    action === "roll-back" || (action === "promote" && rollout.nodes.rejected > 0);
  return (
    <>
      {possible.map((action) => (
        <button
          type="button"
          key={action}
          class={isDangerous(action) ? "danger" : ""}
          onClick={() => setLed({ rollout, action })}
        >
          {rolloutWords[action]}
        </button>
      ))}
      {led === undefined ? null : <LeadRollout {...led} done={done} close={() => setLed(undefined)} />}
    </>
  );
}
