import { useState } from "preact/hooks";
import { pathOf } from "../../api/request.js";
import type { NodeContentsJson, NodeRows, RolloutJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { ResourceNames } from "../../parts/resource-names.js";
import { YamlDiff } from "../../parts/yaml/yaml-view.js";
import { counted } from "../../text/counts.js";

/** More are named, and not opened. */
const maxOpened = 20;

/** What a rollout changes: beside what is new stands what a node has from which it is kept. */
export function RolloutDiff({ rollout: { group, resources, changed, nodes } }: { readonly rollout: RolloutJson }) {
  const held = new URLSearchParams({ group, state: "held-back", limit: "1" });
  const { data } = useLive<NodeRows>(nodes.held === 0 ? undefined : `fleet/nodes?${held}`);
  const node = data?.nodes[0]?.id;
  return (
    <>
      <h3>What it changes</h3>
      {node === undefined ? (
        <ResourceNames group={group} resources={resources.slice(0, maxOpened)} more={changed - maxOpened} />
      ) : (
        resources
          .slice(0, maxOpened)
          .map((resource) => <Changed key={`${resource.type} ${resource.name}`} node={node} {...resource} />)
      )}
      {node === undefined || changed <= maxOpened ? null : (
        <p class="quiet">{counted(changed - maxOpened, "more", "more")}</p>
      )}
    </>
  );
}

/** It is asked for once somebody opens it. */
function Changed({ node, type, name }: { readonly node: string; readonly type: string; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  const path = `nodes/${pathOf(node)}/resources/${pathOf(type, name)}`;
  const { data, error } = useLive<NodeContentsJson>(isOpen ? path : undefined);
  return (
    <details class="changed" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <b>{name}</b> <small>{type}</small>
      </summary>
      {error === undefined ? null : <p class="quiet">{node} does not ask for it.</p>}
      {data === undefined ? null : (
        <YamlDiff before={data.wanted} after={data.newest} label={`What changes in ${name}`} />
      )}
    </details>
  );
}
