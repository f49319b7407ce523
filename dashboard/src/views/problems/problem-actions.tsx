import { useState } from "preact/hooks";
import type { ProblemEntry, QuarantineJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { linkTo } from "../../router.js";
import { LiftQuarantine } from "../rollouts/lift-quarantine.js";
import { RolloutButtons } from "../rollouts/rollout-buttons.js";
import type { RolloutPage } from "../rollouts/rollout-state.js";

/** What somebody can do about a problem, where the server can do it. */
export function ProblemActions({ problem }: { readonly problem: ProblemEntry }) {
  switch (problem.kind) {
    case "rollout-halted":
      return <Lead groups={problem.groups} />;
    case "quarantine":
      return <Lift problem={problem} />;
    case "rejected":
      return (
        <>
          <a class="button" href={linkTo("history")}>
            Roll back …
          </a>
          <Copy label="Copy command" text={() => xdskitOf("rollback")} />
        </>
      );
    case "dangling":
    case "change-refused":
      return (
        <a class="button" href={linkTo("change")}>
          Make a change
        </a>
      );
    default:
      return null;
  }
}

/** The buttons of the rollout of one of these groups. */
function Lead({ groups }: Pick<ProblemEntry, "groups">) {
  const { data, renew } = useLive<RolloutPage>("rollouts?limit=100");
  const rollout = data?.rollouts.find(({ group, state }) => groups.includes(group) && state === "halted");
  return rollout === undefined ? null : <RolloutButtons rollout={rollout} done={renew} />;
}

/** Of many at once the rollouts' page lifts each. */
function Lift({ problem: { types, type, names, groups } }: { readonly problem: ProblemEntry }) {
  const { data, renew } = useLive<RolloutPage>("rollouts");
  const [lifted, setLifted] = useState<QuarantineJson | undefined>(undefined);
  const fitting = (data?.quarantines ?? []).filter(
    (one) => names.includes(one.name) && groups.includes(one.group) && [type, ...types].includes(one.type),
  );
  const [only] = fitting;
  return (
    <>
      {only === undefined || fitting.length > 1 ? null : (
        <button type="button" onClick={() => setLifted(only)}>
          Lift
        </button>
      )}
      {lifted === undefined ? null : (
        <LiftQuarantine quarantine={lifted} done={renew} close={() => setLifted(undefined)} />
      )}
    </>
  );
}
