import { pathOf } from "../../api/request.js";
import type { GraphJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Loading } from "../../parts/message.js";
import { Graph } from "./graph.js";

/** Everything that the listeners of a group lead to. */
export function WholeGraph({ group }: { readonly group: string }) {
  const path = `groups/${pathOf(group)}/graph`;
  const { data } = useLive<GraphJson>(path);
  if (data === undefined) return <Loading />;
  return (
    <div class="panel">
      <header>
        <h2>Who uses what</h2>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(path)} />
        </div>
      </header>
      {data.nodes.length === 0 ? (
        <Empty title="This group has no listener to begin at." />
      ) : (
        <Graph graph={data} group={group} root={undefined} query={new URLSearchParams()} />
      )}
    </div>
  );
}
