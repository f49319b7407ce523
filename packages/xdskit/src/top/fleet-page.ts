import type { NodeRow } from "@xdskit/admin";
import type { Paint } from "../output/colours.js";
import { troubleLine } from "../output/messages/trouble-line.js";
import { printable } from "../output/printable.js";
import { cutToWidth, padToWidth, widthOf } from "../output/screen/fit.js";
import { nodeColours } from "../output/state-colours.js";
import type { FleetLook } from "./fleet-look.js";
import type { MetricRates } from "./metric-totals.js";

/** How large a page may be; undefined: it is no terminal, and nothing is cut. */
export interface PageSize {
  readonly rows: number;
  readonly columns: number;
}

/** How many problems, or troubles of sources, are listed above the nodes. */
const maxProblems = 3;
/** Where nothing is cut, a reason still has an end. */
const longestReason = 200;

interface Column {
  readonly title: string;
  readonly cell: (row: NodeRow) => string;
  /** Columns with a higher number go first where the terminal is narrow; those without stay. */
  readonly dropped?: number;
  readonly most: number;
}

const columns: readonly Column[] = [
  { title: "NODE", cell: ({ id }) => printable(id), most: 40 },
  { title: "STATE", cell: ({ state }) => state, most: 10 },
  { title: "GROUP", cell: ({ group }) => printable(group), dropped: 2, most: 20 },
  { title: "CLIENT", cell: ({ client }) => printable(client) || "-", dropped: 3, most: 20 },
  { title: "REPLICA", cell: ({ replicas }) => printable(replicas.join(", ")) || "-", dropped: 4, most: 24 },
  { title: "LAG", cell: ({ lagMs }) => roughDuration(lagMs), most: 8 },
  { title: "BEHIND", cell: ({ behind }) => String(behind), dropped: 1, most: 8 },
  { title: "WHY", cell: ({ why }) => cutToWidth(printable(why), longestReason), most: Number.POSITIVE_INFINITY },
];

/**
 * Nodes by state, what is wrong, and the worst nodes, as lines that fit: no line is longer than the terminal is wide,
 * and there are no more of them than it has rows.
 */
export function fleetPage(
  look: FleetLook,
  {
    server,
    rates,
    size,
    paint,
  }: {
    readonly server: string;
    /** Undefined: not for `status`, and not before there are two looks. */
    readonly rates: MetricRates | undefined;
    readonly size: PageSize | undefined;
    readonly paint: Paint;
  },
): string {
  // Silent servers follow the counts of the nodes, in `top` too.
  const troubles = look.troubles.filter(({ kind }) => kind !== "silent").map((trouble) => troubleLine(trouble, paint));
  const head = [
    ...(size === undefined ? troubles : troubles.slice(0, maxProblems)),
    ...headLines(look, server, rates, paint),
    ...problemLines(look, paint),
  ];
  const width = size === undefined ? Number.POSITIVE_INFINITY : size.columns;
  // The table's head, and the line that says how many more there are.
  const room = size === undefined ? look.rows.length : Math.max(0, size.rows - head.length - 2);
  const shown = look.rows.slice(0, room);
  const left = look.total - shown.length;
  const table = shown.length === 0 ? [] : tableLines(shown, look, width, paint);
  const more = left > 0 ? [paint("quiet", `… and ${grouped(left)} more ${left === 1 ? "node" : "nodes"}`)] : [];
  const lines = [...head, ...table, ...more].map((line) => (size === undefined ? line : cutToWidth(line, width)));
  return (size === undefined ? lines : lines.slice(0, size.rows)).map((line) => `${line}\n`).join("");
}

function headLines(
  { summary, metrics }: FleetLook,
  server: string,
  rates: MetricRates | undefined,
  paint: Paint,
): readonly string[] {
  const { states, nodes, silent } = summary;
  const worstFirst = (Object.keys(nodeColours) as NodeRow["state"][]).toReversed();
  const parts = worstFirst.map((state) => {
    const text = `${grouped(states[state])} ${state}`;
    return states[state] === 0 ? paint("quiet", text) : paint(nodeColours[state], text);
  });
  const first = `${paint("strong", `${grouped(nodes)} ${nodes === 1 ? "node" : "nodes"}`)}: ${parts.join(", ")}`;
  const lag = rates?.lag == null ? "-" : `${roughDuration(rates.lag.p50Ms)}, slowest ${roughDuration(rates.lag.p99Ms)}`;
  const second = `pushes ${rates === undefined ? "-" : `${grouped(Math.round(rates.pushesPerSecond))}/s`}   lag ${lag}`;
  const quiet = silent.map(({ replica, reason }) =>
    paint("error", `${printable(replica)} does not answer: ${printable(reason)}`),
  );
  return [`${first}   ${paint("quiet", server)}`, ...(metrics === undefined ? [] : [second]), ...quiet.slice(0, 2)];
}

function problemLines({ problems, metrics }: FleetLook, paint: Paint): readonly string[] {
  if (metrics === undefined) return [];
  if (problems.length === 0) return [paint("good", "no problems"), ""];
  const shown = problems.slice(0, maxProblems).map(({ severity, title }) => {
    return `  ${paint(severity, severity)}  ${printable(title)}`;
  });
  const count = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  const rest = problems.length > maxProblems ? `, the worst ${maxProblems}` : "";
  return [`${count}${rest}:`, ...shown, ""];
}

function tableLines(rows: readonly NodeRow[], { summary }: FleetLook, width: number, paint: Paint): readonly string[] {
  const one = summary.replicas.length <= 1;
  let used = columns.filter(({ title }) => !(one && title === "REPLICA"));
  const natural = new Map(
    columns.map((column) => {
      const widest = rows.reduce((most, row) => Math.max(most, widthOf(column.cell(row))), column.title.length);
      return [column, Math.min(column.most, widest)] as const;
    }),
  );
  // The reason is cut rather than that a column goes, down to this.
  const least = (column: Column) => Math.min(natural.get(column) ?? 0, column.title === "WHY" ? 24 : column.most);
  while (used.reduce((sum, column) => sum + least(column) + 2, -2) > width) {
    const next = used.reduce<Column | undefined>(
      (found, one) => ((one.dropped ?? 0) > (found?.dropped ?? 0) ? one : found),
      undefined,
    );
    if (next === undefined) break;
    used = used.filter((column) => column !== next);
  }
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => {
        const column = used[index] as Column;
        const most = natural.get(column) ?? 0;
        const fitted = cutToWidth(cell, most);
        return index === cells.length - 1 ? fitted : padToWidth(fitted, most);
      })
      .join("  ")
      .trimEnd();
  const state = used.findIndex(({ title }) => title === "STATE");
  const cellsOf = (row: NodeRow) =>
    used.map((column, index) => (index === state ? paint(nodeColours[row.state], column.cell(row)) : column.cell(row)));
  return [paint("strong", line(used.map(({ title }) => title))), ...rows.map((row) => line(cellsOf(row)))];
}

/** `-`, `12ms`, `3.4s`, `5m`, `2h`. */
export function roughDuration(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)}m` : `${Math.floor(ms / 3_600_000)}h`;
}

/** `10,000`. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
