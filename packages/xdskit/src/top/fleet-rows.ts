import type { NodeRow, NodeRows } from "@xdskit/admin";

/** The API lists at most this many nodes at once. */
const pageRows = 1_000;

/**
 * The first nodes of a list, at most this many but at least one, page by page; and how many there are. Between two
 * pages nodes may change their places: each is there once.
 */
export async function allNodeRows(
  page: (limit: number, offset: number) => Promise<Pick<NodeRows, "total" | "nodes">>,
  most: number,
): Promise<{ readonly nodes: readonly NodeRow[]; readonly total: number }> {
  const found = new Map<string, NodeRow>();
  for (let offset = 0; ; ) {
    const { nodes, total } = await page(Math.max(1, Math.min(pageRows, most - offset)), offset);
    for (const node of nodes) found.set(node.id, node);
    offset += nodes.length;
    if (nodes.length === 0 || offset >= Math.min(most, total))
      return { nodes: [...found.values()], total: Math.max(total, found.size) };
  }
}
