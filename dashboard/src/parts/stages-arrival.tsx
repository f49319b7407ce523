import { pathOf } from "../api/request.js";
import type { RevisionStages } from "../api/types.js";
import { useLive } from "../api/use-live.js";
import { counted, numberText } from "../text/counts.js";
import { StateBar } from "./state.js";
import { StageChanges } from "./yaml/changes.js";

/** The stages in which clients get a revision, with how many nodes are how far in each. */
export function StagesArrival({ revision }: { readonly revision: string }) {
  const { data } = useLive<RevisionStages>(`revisions/${pathOf(revision)}/stages`);
  if (data === undefined) return null;
  return (
    <>
      {data.groups.map(({ group, stages }) => (
        <section key={group}>
          <h3>
            Group {group}: {counted(stages.length, "stage")}
          </h3>
          <ol class="stages">
            {stages.map((stage, index) => (
              <li key={index}>
                <StageChanges stage={stage} />
                <StageCounts counts={stage.counts} />
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function StageCounts({
  counts: { acknowledged, rejected, pending, "held-back": heldBack },
}: {
  readonly counts: RevisionStages["groups"][number]["stages"][number]["counts"];
}) {
  const total = acknowledged + rejected + pending + heldBack;
  if (total === 0) return <p class="quiet">No connected client asks for something of it, or it was replaced since.</p>;
  const parts = [
    `${numberText(acknowledged)} of ${counted(total, "node")} acknowledged`,
    ...(pending > 0 ? [`${numberText(pending)} pending`] : []),
    ...(heldBack > 0 ? [`${numberText(heldBack)} held back`] : []),
    ...(rejected > 0 ? [`${numberText(rejected)} rejected`] : []),
  ];
  return (
    <div class="stage-counts">
      <StateBar counts={{ synced: acknowledged, "held-back": heldBack, pending, rejected }} />
      <span>{parts.join(", ")}</span>
    </div>
  );
}
