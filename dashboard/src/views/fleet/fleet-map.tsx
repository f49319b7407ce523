import { useEffect, useRef, useState } from "preact/hooks";
import type { FleetMapJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { nameOf, nodeStates, signOf } from "../../parts/state.js";
import { steady } from "../../parts/steady.js";
import { linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import { apiQuery, type FleetFilters, fleetLink } from "./filters.js";
import { moveInMap, takeTabStop } from "./map-keys.js";

type Column = FleetMapJson["columns"][number];

/** The width of a column that can still be seen and hit, in pixels. */
const columnWidth = 9;
const labelWidth = 120;

/** Nodes × types. A column is one node, or several beside each other; a cell shows the worst state of them. */
export const FleetMap = steady(NodesByTypes);

function NodesByTypes({ filters }: { readonly filters: FleetFilters }) {
  const place = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  const isThere = width > 0;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const columns = Math.min(200, Math.max(10, Math.floor((width - labelWidth) / columnWidth / 10) * 10));
  const { data } = useLive<FleetMapJson>(
    isThere ? `fleet/map?${apiQuery(filters, { columns: String(columns) })}` : undefined,
  );
  return (
    <section class="panel map" ref={place} aria-labelledby="map-title">
      <header>
        <h2 id="map-title">Nodes × types</h2>
        <Legend />
      </header>
      {data === undefined ? <div class="map-waiting" /> : <Grid map={data} filters={filters} />}
    </section>
  );
}

function Legend() {
  return (
    <p class="legend" aria-hidden="true">
      {nodeStates.map((state) => (
        <span key={state}>
          <span class={`cell cell-${state}`}>{signOf(state)}</span> {nameOf(state)}
        </span>
      ))}
    </p>
  );
}

function Grid({ map: { types, columns }, filters }: { readonly map: FleetMapJson; readonly filters: FleetFilters }) {
  if (columns.length === 0) return <p class="quiet">No node fits these filters.</p>;
  const most = Math.max(...columns.map((column) => column.nodes));
  const groups = groupsOf(columns);
  return (
    <>
      {/* One stop for the Tab key, however many columns there are: arrows go on from there. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the columns in it are links. */}
      <div class="map-grid" onKeyDown={moveInMap} onFocusIn={takeTabStop}>
        <div class="map-labels" aria-hidden="true">
          {types.map((type) => (
            <span key={type}>{type}</span>
          ))}
        </div>
        <div class="map-groups">
          {groups.map((group, index) => (
            <Group key={group.name} group={group} types={types} filters={filters} isFirst={index === 0} />
          ))}
        </div>
      </div>
      <p class="quiet small-text">
        {most === 1 ? "Each column is a node" : `Each column is up to ${numberText(most)} nodes beside each other`}, by
        id. Its colour is the worst state in it, as high as the share of its nodes.
      </p>
    </>
  );
}

interface MapGroup {
  readonly name: string;
  readonly nodes: number;
  readonly columns: readonly Column[];
}

/** The columns of each group: they stand beside each other. */
function groupsOf(columns: readonly Column[]): readonly MapGroup[] {
  return [...new Set(columns.map(({ group }) => group))].map((name) => {
    const own = columns.filter(({ group }) => group === name);
    return { name, nodes: own.reduce((sum, { nodes }) => sum + nodes, 0), columns: own };
  });
}

function Group({
  group: { name, nodes, columns },
  types,
  filters,
  isFirst,
}: {
  readonly isFirst: boolean;
  readonly group: MapGroup;
  readonly types: readonly string[];
  readonly filters: FleetFilters;
}) {
  const [first, last] = [columns[0]?.first ?? "", columns.at(-1)?.last ?? ""];
  return (
    <div class="map-group" style={{ flexGrow: columns.length, "--columns": columns.length }}>
      <p class="map-group-name" title={name}>
        <a href={fleetLink({ ...filters, group: name, from: "", to: "" })} tabIndex={-1}>
          {name}
        </a>{" "}
        {counted(nodes, "node")}
      </p>
      <ul class="map-columns" aria-label={`${counted(nodes, "node")} of ${name} by type`}>
        {columns.map((column, index) => (
          <MapColumn
            key={column.first}
            column={column}
            types={types}
            filters={filters}
            isStop={isFirst && index === 0}
          />
        ))}
      </ul>
      <p class="map-axis" aria-hidden="true">
        <span>{first}</span>
        {first === last ? null : <span>{last}</span>}
      </p>
    </div>
  );
}

const MapColumn = steady(OneColumn);

function OneColumn({
  column,
  types,
  filters,
  isStop,
}: {
  readonly column: Column;
  readonly types: readonly string[];
  readonly filters: FleetFilters;
  readonly isStop: boolean;
}) {
  const text = columnText(column, types);
  return (
    <li>
      <a href={columnLink(column, filters)} aria-label={text} title={text} tabIndex={isStop ? 0 : -1}>
        {column.worst.map((state, index) => (
          <span
            key={types[index]}
            aria-hidden="true"
            class={`cell cell-${state ?? "none"}`}
            style={{ "--share": `${shareOf(column, index)}%` }}
          />
        ))}
      </a>
    </li>
  );
}

/** How many of a column's nodes are so, in percent; a few among many must be seen, too. */
function shareOf({ worst, counts, nodes }: Column, index: number): number {
  const [state, count] = [worst[index], counts[index]];
  if (state == null || count === undefined) return 100;
  return Math.max(20, Math.round((100 * count[state]) / nodes));
}

function columnLink({ first, last, group, nodes }: Column, filters: FleetFilters): string {
  if (nodes === 1) return linkTo("node", [first]);
  return fleetLink({ ...filters, group, from: first, to: last });
}

function columnText({ first, last, group, nodes, counts }: Column, types: readonly string[]): string {
  const who = nodes === 1 ? first : `${counted(nodes, "node")} from ${first} to ${last}`;
  const wrong = counts.flatMap((count, index) => {
    const shown = nodeStates.filter((state) => state !== "synced" && count[state] > 0);
    return shown.map((state) => `${types[index]}: ${nodes === 1 ? "" : `${count[state]} `}${nameOf(state)}`);
  });
  return `${who} (${group}): ${wrong.length === 0 ? "synced" : wrong.join(", ")}`;
}
