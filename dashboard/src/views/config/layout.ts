import type { GraphJson } from "../../api/types.js";

/** A resource's place in the picture. */
export interface Placed {
  readonly node: GraphJson["nodes"][number];
  readonly x: number;
  readonly y: number;
}

/** Where everything of a graph is drawn, in pixels. */
export interface Layout {
  readonly columns: readonly string[];
  readonly nodes: readonly Placed[];
  readonly width: number;
  readonly height: number;
  readonly boxWidth: number;
}

export const boxHeight = 42;
/** Room for lines that can be told apart. */
const columnGap = 56;
const rowHeight = boxHeight + 12;
const headHeight = 28;
const leastWidth = 150;
const maxWidth = 300;

/** From left to right as a request goes. */
const order = ["listener", "scoped-route", "route", "virtual-host", "extension-config", "cluster", "endpoint"];

/**
 * Columns by type, as wide as the place of `room` pixels allows. The largest column is filled from the top; the others
 * stand beside what they use or are used by, so that lines are short and few cross.
 */
export function layoutOf({ nodes, edges }: GraphJson, room: number): Layout {
  const rank = (type: string) => (order.includes(type) ? order.indexOf(type) : order.length);
  const columns = [...new Set(nodes.map(({ type }) => type))].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const members = columns.map((type) => nodes.flatMap((node, index) => (node.type === type ? [index] : [])));
  const lines = linesOf(edges);
  const largest = members.reduce((most, one, index) => (one.length > (members[most]?.length ?? 0) ? index : most), 0);
  const rows = new Map<number, number>();
  // Neighbours must be known before the largest column can be filled.
  for (const own of members) place(own, (index) => lines.usedBy(index), rows, false);
  fill(members[largest] ?? [], rows);
  for (let column = largest - 1; column >= 0; column -= 1)
    place(members[column] ?? [], (index) => lines.uses(index), rows, true);
  for (let column = largest + 1; column < members.length; column += 1)
    place(members[column] ?? [], (index) => lines.usedBy(index), rows, true);
  const free = Math.floor((room - (columns.length - 1) * columnGap) / Math.max(1, columns.length));
  const boxWidth = Math.min(maxWidth, Math.max(leastWidth, free));
  return {
    columns,
    boxWidth,
    nodes: nodes.map((node, index) => ({
      node,
      x: columns.indexOf(node.type) * (boxWidth + columnGap),
      y: headHeight + (rows.get(index) ?? 0) * rowHeight,
    })),
    width: columns.length * (boxWidth + columnGap) - columnGap,
    height: headHeight + (Math.max(0, ...rows.values()) + 1) * rowHeight,
  };
}

/** Where the columns begin. */
export function columnStart(index: number, { boxWidth }: Pick<Layout, "boxWidth">): number {
  return index * (boxWidth + columnGap);
}

function linesOf(edges: GraphJson["edges"]) {
  const uses = new Map<number, number[]>();
  const usedBy = new Map<number, number[]>();
  const push = (map: Map<number, number[]>, key: number, value: number) =>
    map.set(key, [...(map.get(key) ?? []), value]);
  for (const { from, to } of edges) {
    push(uses, from, to);
    push(usedBy, to, from);
  }
  return { uses: (index: number) => uses.get(index) ?? [], usedBy: (index: number) => usedBy.get(index) ?? [] };
}

/** One row each, in the order that they have. */
function fill(members: readonly number[], rows: Map<number, number>): void {
  const sorted = members.toSorted((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
  for (const [row, index] of sorted.entries()) rows.set(index, row);
}

/** Beside those that they belong to; `isExact`: at their height, and not only in their order. */
function place(
  members: readonly number[],
  neighbours: (index: number) => readonly number[],
  rows: Map<number, number>,
  isExact: boolean,
): void {
  const wish = (index: number) => {
    const known = neighbours(index).flatMap((one) => rows.get(one) ?? []);
    // What belongs to nothing comes last.
    return known.length === 0 ? Number.MAX_SAFE_INTEGER : known.reduce((sum, row) => sum + row, 0) / known.length;
  };
  const wishes = members.map((index) => ({ index, wish: wish(index) })).sort((a, b) => a.wish - b.wish);
  let next = 0;
  for (const { index, wish: at } of wishes) {
    const row = isExact && at !== Number.MAX_SAFE_INTEGER ? Math.max(next, at) : next;
    rows.set(index, row);
    next = row + 1;
  }
}
