import type { Graph } from "../../api/types.js";

/** A resource's place in the picture. */
export interface Placed {
  readonly node: Graph["nodes"][number];
  readonly x: number;
  readonly y: number;
}

/** Where everything of a graph is drawn, in pixels. */
export interface Layout {
  readonly columns: readonly string[];
  readonly nodes: readonly Placed[];
  readonly width: number;
  readonly height: number;
}

export const boxWidth = 190;
export const boxHeight = 42;
const columnGap = 56;
const rowGap = 12;
const headHeight = 28;

/** From left to right as a request goes. */
const order = ["listener", "scoped-route", "route", "virtual-host", "extension-config", "cluster", "endpoint"];

/** Columns by type; in each, what is used by the same stands beside each other, so that few lines cross. */
export function layoutOf({ nodes, edges }: Graph): Layout {
  const rank = (type: string) => (order.includes(type) ? order.indexOf(type) : order.length);
  const columns = [...new Set(nodes.map(({ type }) => type))].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const rows = new Map<number, number>();
  let height = 0;
  for (const column of columns) {
    const members = nodes.map((_, index) => index).filter((index) => nodes[index]?.type === column);
    const wish = (index: number) => {
      const from = edges.filter((edge) => edge.to === index).map((edge) => rows.get(edge.from) ?? 0);
      return from.length === 0 ? 0 : from.reduce((sum, row) => sum + row, 0) / from.length;
    };
    const wishes = new Map(members.map((index) => [index, wish(index)]));
    members.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
    for (const [row, index] of members.entries()) rows.set(index, row);
    height = Math.max(height, members.length);
  }
  return {
    columns,
    nodes: nodes.map((node, index) => ({
      node,
      x: columns.indexOf(node.type) * (boxWidth + columnGap),
      y: headHeight + (rows.get(index) ?? 0) * (boxHeight + rowGap),
    })),
    width: columns.length * (boxWidth + columnGap) - columnGap,
    height: headHeight + height * (boxHeight + rowGap),
  };
}
