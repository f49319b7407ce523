import { pathOf } from "../api/request.js";
import type { ArrivalJson } from "../api/types.js";
import { useLive } from "../api/use-live.js";
import { linkTo } from "../router.js";
import { counted, numberText } from "../text/counts.js";
import { NodeNames } from "./node-names.js";
import { nameOf, StateBar } from "./state.js";

/** How far the clients are with a revision. */
export function Arrival({ revision }: { readonly revision: string }) {
  const { data } = useLive<ArrivalJson>(`revisions/${pathOf(revision)}/arrival`);
  if (data === undefined) return null;
  const { acknowledged, rejected, pending, "held-back": heldBack } = data.counts;
  const total = acknowledged + rejected + pending + heldBack;
  if (total === 0) return <p class="quiet">No connected client asks for something of it, or it was replaced since.</p>;
  return (
    <div class="progress" role="status">
      <p>
        <span class="progress-number">{Math.floor((100 * acknowledged) / total)} %</span> acknowledged:{" "}
        {numberText(acknowledged)} of {counted(total, "node")}
        {rejected > 0 ? `, ${numberText(rejected)} rejected it` : ""}
        {pending > 0 ? `, ${numberText(pending)} pending` : ""}
        {heldBack > 0 ? `, ${numberText(heldBack)} held back` : ""}
      </p>
      <StateBar counts={{ synced: acknowledged, "held-back": heldBack, pending, rejected }} />
      <Reasons nodes={data.nodes} />
      <NotListed data={data} />
      {data.uncounted.map(({ replica, reason }) => (
        <p key={replica} class="notice">
          ⚠ {replica}: {reason}. Its nodes are not all counted.
        </p>
      ))}
    </div>
  );
}

/** The server lists some of them only. */
function NotListed({ data: { counts, nodes } }: { readonly data: ArrivalJson }) {
  const listed = (state: string) => nodes.filter((node) => node.state === state).length;
  const states = ["rejected", "pending", "held-back"] as const;
  const rest = states.filter((state) => counts[state] > listed(state));
  if (rest.length === 0) return null;
  return (
    <p class="quiet">
      Not listed here:{" "}
      {rest.map((state, index) => (
        <span key={state}>
          {index > 0 ? ", " : ""}
          <a href={linkTo("fleet", [], { state })}>
            {numberText(counts[state] - listed(state))} {nameOf(state)}
          </a>
        </span>
      ))}
      .
    </p>
  );
}

/** The nodes that have not acknowledged, by reason. */
function Reasons({ nodes }: Pick<ArrivalJson, "nodes">) {
  const reasons = new Map<string, ArrivalJson["nodes"][number][]>();
  for (const node of nodes) {
    const key = `${node.state}: ${node.message}`;
    reasons.set(key, [...(reasons.get(key) ?? []), node]);
  }
  return (
    <ul class="findings">
      {[...reasons].map(([reason, found]) => (
        <li key={reason} class={found[0]?.state === "rejected" ? "finding-error" : "finding-warning"}>
          <b>{nameOf(found[0]?.state ?? "")}</b> {found[0]?.message}
          <br />
          <NodeNames ids={found.map(({ id }) => id)} rest="more that are listed" />
        </li>
      ))}
    </ul>
  );
}
