import type { FleetSummary } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Failure, Loading } from "../../parts/message.js";
import { Search, Select } from "../../parts/search.js";
import { usePlace } from "../../router.js";
import { ActivityLine } from "./activity-line.js";
import { apiQuery, type FleetFilters, filtersOf, isFiltered, rowsQuery, setFilters } from "./filters.js";
import { FleetMap } from "./fleet-map.js";
import { NoNodes } from "./no-nodes.js";
import { NodeTable } from "./node-table.js";
import { States } from "./states.js";

const sorts = [
  ["", "worst first"],
  ["id", "by id"],
  ["lag", "slowest first"],
  ["behind", "most behind first"],
  ["-connected", "newest first"],
  ["group", "by group"],
  ["client", "by client"],
] as const;

/** All nodes: how many are how far, a map of nodes × types, and a table. */
export function FleetView() {
  const { query } = usePlace();
  const filters = filtersOf(query);
  // The counts beside the states are those of the other filters.
  const summary = useLive<FleetSummary>(`fleet/summary?${apiQuery({ ...filters, state: "" })}`);
  const all = useLive<FleetSummary>("fleet/summary");
  if (all.data === undefined) return all.error === undefined ? <Loading /> : <Failure error={all.error} />;
  if (all.data.nodes === 0) return <NoNodes />;
  return (
    <>
      <header class="page-head">
        <h1>Fleet</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(`fleet/nodes?${rowsQuery(filters)}`)} />
          <Copy label="Copy command" text={() => xdskitOf("top", ...topOptions(filters))} />
        </div>
      </header>
      <SilentReplicas summary={all.data} />
      {summary.error === undefined ? null : <Failure error={summary.error} />}
      <States summary={summary.data ?? all.data} state={filters.state} />
      <ActivityLine />
      <FleetMap filters={filters} />
      <Filters filters={filters} all={all.data} />
      <NodeTable
        filters={filters}
        types={all.data.types.map(({ name }) => name)}
        hasReplicas={all.data.replicas.length > 1}
      />
    </>
  );
}

/** The same filters as options of a command. */
function topOptions({ q, state, group }: FleetFilters): readonly string[] {
  const given = [
    ["--search", q],
    ["--state", state],
    ["--group", group.replaceAll(",", "%2C")],
  ];
  return given.filter(([, value]) => value !== "").flat();
}

/** What is shown is not all of it while a server says nothing. */
function SilentReplicas({ summary: { silent } }: { readonly summary: FleetSummary }) {
  if (silent.length === 0) return null;
  return (
    <div class="notice" role="status">
      {silent.map(({ replica, reason }) => (
        <p key={replica}>
          <b>⚠ {replica} does not answer</b>, and its nodes are not shown: {reason}
        </p>
      ))}
    </div>
  );
}

function Filters({ filters, all }: { readonly filters: FleetFilters; readonly all: FleetSummary }) {
  const options = (of: readonly { readonly name: string }[]) => ["", ...of.map(({ name }) => name).filter(Boolean)];
  return (
    <div class="filters">
      <Search label="Search nodes" value={filters.q} change={(q) => setFilters({ q })} />
      <Select
        label="Group"
        value={filters.group}
        options={options(all.groups)}
        change={(group) => setFilters({ group })}
      />
      <Select
        label="Client"
        value={filters.client}
        options={options(all.clients)}
        change={(client) => setFilters({ client })}
      />
      {all.replicas.length < 2 ? null : (
        <Select
          label="Replica"
          value={filters.replica}
          options={options(all.replicas)}
          change={(replica) => setFilters({ replica })}
        />
      )}
      <Select label="Type" value={filters.type} options={options(all.types)} change={(type) => setFilters({ type })} />
      <Select label="Order" value={filters.sort} options={sorts} change={(sort) => setFilters({ sort })} />
      {isFiltered(filters) ? (
        <button
          type="button"
          onClick={() =>
            setFilters({ q: "", state: "", group: "", client: "", replica: "", type: "", from: "", to: "" })
          }
        >
          All nodes
        </button>
      ) : null}
    </div>
  );
}
