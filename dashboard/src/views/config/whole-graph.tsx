import { pathOf } from "../../api/request.js";
import type { Graph as GraphData } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { Empty, Loading } from "../../parts/message.js";
import { Graph } from "./graph.js";

/** Everything that the listeners of a group lead to. */
export function WholeGraph({ group }: { readonly group: string }) {
  const { data } = useLive<GraphData>(`groups/${pathOf(group)}/graph`);
  if (data === undefined) return <Loading />;
  return (
    <div class="panel">
      <h2>Who uses what</h2>
      {data.nodes.length === 0 ? (
        <Empty title="This group has no listener to begin at." />
      ) : (
        <Graph graph={data} group={group} root={undefined} query={new URLSearchParams()} />
      )}
    </div>
  );
}
