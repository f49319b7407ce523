import type { NodeRevision } from "@xdskit/admin";
import { printable } from "@xdskit/api";
import { type Paint, plain } from "../output/colours.js";
import { cutToWidth, padToWidth, widthOf } from "../output/screen/fit.js";
import { wrapped } from "../output/screen/told.js";
import { nodeColours, stateColours } from "../output/state-colours.js";

/** A node as a line of a table. What nobody knows of any node has no column. */
export interface NodeLine {
  readonly id: string;
  readonly state: string;
  readonly group?: string | undefined;
  readonly client?: string | undefined;
  /** Of its layers; undefined: nobody asked. */
  readonly revisions?: readonly NodeRevision[] | undefined;
  /** The servers that have its streams. */
  readonly replicas?: readonly string[] | undefined;
  /** Milliseconds; null: nothing was sent to it yet. */
  readonly lagMs?: number | null | undefined;
  /** How many resources; a text says more of them. */
  readonly behind: number | string;
  readonly why: string;
}

/** How large a page may be; undefined: it is no terminal, and nothing is cut. */
export interface PageSize {
  readonly rows: number;
  readonly columns: number;
}

/** Where nothing is cut, a reason still has an end. */
const longestReason = 200;

interface Column {
  readonly title: string;
  /** Undefined where it is not known. */
  readonly cell: (node: NodeLine) => string | undefined;
  /** Columns with a higher number go first where the terminal is narrow; those without stay. */
  readonly dropped?: number;
  readonly most: number;
}

const all: readonly Column[] = [
  { title: "NODE", cell: ({ id }) => printable(id), most: 40 },
  { title: "STATE", cell: ({ state }) => state, most: 10 },
  { title: "GROUP", cell: ({ group }) => group && printable(group), dropped: 3, most: 20 },
  { title: "REVISION", cell: ({ revisions }) => revisions && revisionsText(revisions), dropped: 2, most: 24 },
  { title: "CLIENT", cell: ({ client }) => client && (printable(client) || "-"), dropped: 4, most: 20 },
  { title: "REPLICA", cell: ({ replicas }) => replicas && printable(replicas.join(", ")), dropped: 5, most: 24 },
  { title: "LAG", cell: ({ lagMs }) => (lagMs === undefined ? undefined : roughDuration(lagMs)), most: 8 },
  { title: "BEHIND", cell: ({ behind }) => String(behind), dropped: 1, most: 14 },
  { title: "WHY", cell: ({ why }) => cutToWidth(printable(why), longestReason), most: Number.POSITIVE_INFINITY },
];

/** `#7`; of several layers `folder #7, api before #3`. */
export function revisionsText(revisions: readonly NodeRevision[]): string {
  const isOne = revisions.length === 1;
  const each = revisions.map(({ layer, number, isBefore }) =>
    [...(isOne ? [] : [printable(layer)]), ...(isBefore ? ["before"] : []), `#${number}`].join(" "),
  );
  return each.length === 0 ? "-" : each.join(", ");
}

/** Lines with a head; none where there is no node. */
export function nodeTable(nodes: readonly NodeLine[], width: number, paint: Paint = plain): readonly string[] {
  if (nodes.length === 0) return [];
  let used = all.filter(({ cell }) => nodes.some((node) => cell(node) !== undefined));
  const text = ({ cell }: Column, node: NodeLine) => cell(node) ?? "-";
  const natural = new Map(
    used.map((column) => {
      const widest = nodes.reduce((most, node) => Math.max(most, widthOf(text(column, node))), column.title.length);
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
  const line = (cellOf: (column: Column) => string) =>
    used
      .map((column, index) => {
        const most = natural.get(column) ?? 0;
        const fitted = cutToWidth(cellOf(column), most);
        return index === used.length - 1 ? fitted : padToWidth(fitted, most);
      })
      .join("  ")
      .trimEnd();
  const head = paint(
    "strong",
    line(({ title }) => title),
  );
  const painted = (column: Column, node: NodeLine) => {
    const colour = column.title === "STATE" ? stateColours[node.state] : undefined;
    return colour === undefined ? text(column, node) : paint(colour, text(column, node));
  };
  return [head, ...nodes.map((node) => line((column) => painted(column, node)))];
}

/** `3 nodes: 1 rejected, 0 stale, 0 pending, 0 held-back, 2 synced`, and other states where there are any. */
export function statesLine(states: Readonly<Record<string, number>>, paint: Paint = plain): string {
  const nodes = Object.values(states).reduce((sum, count) => sum + count, 0);
  if (nodes === 0) return paint("strong", "no nodes");
  const usual = Object.keys(nodeColours).toReversed();
  const others = Object.keys(states).filter((state) => !usual.includes(state) && (states[state] ?? 0) > 0);
  const parts = [...usual, ...others].map((state) => {
    const count = states[state] ?? 0;
    return paint(count === 0 ? "quiet" : (stateColours[state] ?? "strong"), `${grouped(count)} ${state}`);
  });
  return `${paint("strong", `${grouped(nodes)} ${nodes === 1 ? "node" : "nodes"}`)}: ${parts.join(", ")}`;
}

/** Lines that come first, and the nodes below: no line is longer, and there are no more of them, than fit. */
export function nodesPage(
  head: readonly string[],
  nodes: readonly NodeLine[],
  { total, size, paint }: { readonly total: number; readonly size: PageSize | undefined; readonly paint: Paint },
): string {
  const width = size === undefined ? Number.POSITIVE_INFINITY : size.columns;
  // The table's head, and the line that says how many more there are.
  const room = size === undefined ? nodes.length : Math.max(0, size.rows - head.length - 2);
  const shown = nodes.slice(0, room);
  const left = total - shown.length;
  const more = left > 0 ? [paint("quiet", `… and ${grouped(left)} more ${left === 1 ? "node" : "nodes"}`)] : [];
  const lines = [...head, ...nodeTable(shown, width, paint), ...more];
  // Without an end below, what comes first is told whole.
  const fits = (line: string, index: number) =>
    size?.rows === Number.POSITIVE_INFINITY && index < head.length ? wrapped(line, width) : cutToWidth(line, width);
  const fitted = size === undefined ? lines : lines.slice(0, size.rows).map(fits);
  return fitted.map((line) => `${line}\n`).join("");
}

/** `-`, `12ms`, `3.4s`, `5m`, `2h`. */
export function roughDuration(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)}m` : `${Math.floor(ms / 3_600_000)}h`;
}

/** `10,000`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
