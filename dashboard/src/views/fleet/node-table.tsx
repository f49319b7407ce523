import type { NodeRow, NodeStateName } from "../../api/types.js";
import { useCursor } from "../../parts/cursor.js";
import { CutName } from "../../parts/cut-name.js";
import { Failure } from "../../parts/message.js";
import { nameOf, State, signOf } from "../../parts/state.js";
import { steady } from "../../parts/steady.js";
import { Duration, Time } from "../../parts/time.js";
import { VirtualList } from "../../parts/virtual-list.js";
import { go, linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import { revisionsText } from "../../text/revisions.js";
import { shortTypeName } from "../../text/type-names.js";
import { type FleetFilters, rowsQuery } from "./filters.js";
import { usePages } from "./use-pages.js";

const rowHeight = 44;

/** The nodes that fit, however many there are. `j` and `k` go through them, Enter opens one. */
export const NodeTable = steady(Nodes);

function Nodes({
  filters,
  types,
  hasReplicas,
}: {
  readonly filters: FleetFilters;
  /** The types that nodes of the fleet ask for, in the order of their columns. */
  readonly types: readonly string[];
  /** Whether there are several servers. */
  readonly hasReplicas: boolean;
}) {
  const { total, error, row, seen } = usePages(rowsQuery(filters));
  const current = useCursor(total ?? 0, (index) => {
    const node = row(index);
    if (node !== undefined) go(linkTo("node", [node.id]));
  });
  if (error !== undefined && total === undefined) return <Failure error={error} />;
  const shown = { types, hasReplicas };
  return (
    <section
      class={`panel table${hasReplicas ? " has-replicas" : ""}`}
      aria-label="Nodes"
      style={{ "--types": types.length }}
    >
      <p class="table-count" role="status">
        {total === undefined ? "…" : `${counted(total, "node")} shown`}
      </p>
      <VirtualList
        label="Nodes"
        count={total ?? 0}
        rowHeight={rowHeight}
        seen={seen}
        focus={current}
        head={<Head {...shown} />}
        row={(index, place) => (
          <SteadyRow key={place} index={index} node={row(index)} isCurrent={index === current} {...shown} />
        )}
      />
    </section>
  );
}

interface Shown {
  readonly types: readonly string[];
  readonly hasReplicas: boolean;
}

function Head({ types, hasReplicas }: Shown) {
  const column = (name: string, label: string) => (
    <span role="columnheader" class={`cell-${name}`}>
      {label}
    </span>
  );
  return (
    <div role="rowgroup" class="node-head">
      <div role="row" class="node-row" aria-rowindex={1}>
        {column("state", "State")}
        {column("id", "Node")}
        <span role="columnheader" class="cell-types" aria-label="Types">
          {types.map((type) => (
            <span key={type} title={type}>
              {shortTypeName(type)}
            </span>
          ))}
        </span>
        {column("revision", "Revision")}
        {column("group", "Group")}
        {column("client", "Client")}
        {hasReplicas ? column("replica", "Replica") : null}
        {column("since", "Connected")}
        {column("lag", "ACK after")}
        {column("why", "Why")}
      </div>
    </div>
  );
}

function Row({
  index,
  node,
  isCurrent,
  types,
  hasReplicas,
}: Shown & {
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
  const { id, state, group, client, replicas, connectedSince, lagMs, why, locality } = node;
  const revisions = revisionsText(node.revisions);
  const name = locality === "" ? id : `${id}, ${locality}`;
  return (
    <div role="row" class={`node-row${isCurrent ? " current" : ""}`} aria-rowindex={index + 2}>
      <span role="cell" class="cell-state">
        <State state={state} />
      </span>
      <span role="cell" class="cell-id" title={name}>
        {/* The focus is on a node: it does not stay when another one takes its place. */}
        <a key={id} href={linkTo("node", [id])}>
          <CutName name={id} />
        </a>
        {locality === "" ? null : <small> {locality}</small>}
      </span>
      <span role="cell" class="cell-types">
        {types.map((type) => (
          <TypeCell key={type} type={type} state={node.types.find((one) => one.type === type)?.state} />
        ))}
      </span>
      <span role="cell" class="cell-revision" title={revisions}>
        <span>{revisions}</span>
      </span>
      <span role="cell" class="cell-group">
        {group}
      </span>
      <span role="cell" class="cell-client">
        {client}
      </span>
      {hasReplicas ? (
        <span role="cell" class="cell-replica" title={replicas.join(", ")}>
          {replicas.join(", ")}
        </span>
      ) : null}
      <span role="cell" class="cell-since">
        <Time at={connectedSince} />
      </span>
      <span role="cell" class="cell-lag">
        <Duration ms={lagMs} />
      </span>
      <span role="cell" class="cell-why" title={why}>
        <span>{why}</span>
      </span>
    </div>
  );
}

const SteadyRow = steady(Row);

/** How far a node is with a type; undefined: it does not ask for it. */
function TypeCell({ type, state }: { readonly type: string; readonly state: NodeStateName | undefined }) {
  if (state === undefined) return <span class="cell cell-none" title={`${type}: not asked for`} />;
  return (
    <span
      class={`cell cell-${state}`}
      role="img"
      aria-label={`${type} ${nameOf(state)}`}
      title={`${type}: ${nameOf(state)}`}
    >
      {signOf(state)}
    </span>
  );
}
