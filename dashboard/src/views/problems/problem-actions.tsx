import { useState } from "preact/hooks";
import type { ProblemEntry, QuarantineJson } from "../../api/types.js";
import { xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { linkTo } from "../../router.js";
import { LiftQuarantine } from "../rollouts/lift-quarantine.js";
import { RolloutButtons } from "../rollouts/rollout-buttons.js";
import type { RolloutPage } from "../rollouts/rollout-state.js";

/** The rollouts and quarantines as they are now, and what asks for them again. */
export interface KnownRollouts {
  readonly page: RolloutPage | undefined;
  renew(): void;
}

/** The problems for which rollouts and quarantines must be known. */
export function needsRollouts({ kind }: ProblemEntry): boolean {
  return kind === "rollout-halted" || kind === "quarantine";
}

/** What somebody can do about a problem, where the server can do it. */
export function ProblemActions({ problem, known }: { readonly problem: ProblemEntry; readonly known: KnownRollouts }) {
  switch (problem.kind) {
    case "rollout-halted":
      return <Lead groups={problem.groups} known={known} />;
    case "quarantine":
      return <Lift problem={problem} known={known} />;
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
function Lead({ groups, known: { page, renew } }: Pick<ProblemEntry, "groups"> & { readonly known: KnownRollouts }) {
  const rollout = page?.rollouts.find(({ group, state }) => groups.includes(group) && state === "halted");
  return rollout === undefined ? null : <RolloutButtons rollout={rollout} done={renew} />;
}

/** Of many at once the rollouts' page lifts each. */
function Lift({
  problem: { types, type, names, groups },
  known: { page, renew },
}: {
  readonly problem: ProblemEntry;
  readonly known: KnownRollouts;
}) {
  const [lifted, setLifted] = useState<QuarantineJson | undefined>(undefined);
  const fitting = (page?.quarantines ?? []).filter(
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
