import type { NodeRow } from "../../api/types.js";
import { useCursor } from "../../parts/cursor.js";
import { Failure } from "../../parts/message.js";
import { State, signOf } from "../../parts/state.js";
import { Duration, Time } from "../../parts/time.js";
import { VirtualList } from "../../parts/virtual-list.js";
import { go, linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import { apiQuery, type FleetFilters } from "./filters.js";
import { usePages } from "./use-pages.js";

const rowHeight = 44;

/** The nodes that fit, however many there are. `j` and `k` go through them, Enter opens one. */
export function NodeTable({ filters }: { readonly filters: FleetFilters }) {
  const { total, error, row, seen } = usePages(apiQuery(filters));
  const current = useCursor(total ?? 0, (index) => {
    const node = row(index);
    if (node !== undefined) go(linkTo("node", [node.id]));
  });
  if (error !== undefined && total === undefined) return <Failure error={error} />;
  return (
    <section class="panel table" aria-label="Nodes">
      <p class="table-count" role="status">
        {total === undefined ? "…" : `${counted(total, "node")} shown`}
      </p>
      <VirtualList
        label="Nodes"
        count={total ?? 0}
        rowHeight={rowHeight}
        seen={seen}
        focus={current}
        head={<Head />}
        row={(index) => <Row key={index} index={index} node={row(index)} isCurrent={index === current} />}
      />
    </section>
  );
}

const columns = ["State", "Node", "Types", "Group", "Client", "Connected", "ACK after", "Why"] as const;

function Head() {
  return (
    <div role="rowgroup" class="node-head">
      <div role="row" class="node-row" aria-rowindex={1}>
        {columns.map((name) => (
          <span role="columnheader" key={name}>
            {name}
          </span>
        ))}
      </div>
    </div>
  );
}

function Row({
  index,
  node,
  isCurrent,
}: {
  readonly index: number;
  readonly node: NodeRow | undefined;
  readonly isCurrent: boolean;
}) {
  if (node === undefined)
    return (
      <div role="row" class="node-row waiting" aria-rowindex={index + 2}>
        <span role="cell">…</span>
      </div>
    );
  const { id, state, types, group, client, connectedSince, lagMs, why, locality } = node;
  return (
    <div role="row" class={`node-row${isCurrent ? " current" : ""}`} aria-rowindex={index + 2}>
      <span role="cell" class="cell-state">
        <State state={state} />
      </span>
      <span role="cell" class="cell-id">
        <a href={linkTo("node", [id])}>{id}</a>
        {locality === "" ? null : <small> {locality}</small>}
      </span>
      <span role="cell" class="cell-types">
        {types.map((type) => (
          <span key={type.type} class={`cell cell-${type.state}`} title={`${type.type}: ${type.state}`}>
            <span aria-hidden="true">{signOf(type.state)}</span>
            <span class="hidden">{`${type.type} ${type.state}, `}</span>
          </span>
        ))}
      </span>
      <span role="cell" class="cell-group">
        {group}
      </span>
      <span role="cell" class="cell-client">
        {client}
      </span>
      <span role="cell" class="cell-since">
        <Time at={connectedSince} />
      </span>
      <span role="cell" class="cell-lag">
        <Duration ms={lagMs} />
      </span>
      <span role="cell" class="cell-why" title={why}>
        {why}
      </span>
    </div>
  );
}
