import type { NodeListQuery, NodeResourcesQuery, NodeRow, ServedFleet } from "../contract/fleet.js";
import type { PeerServer } from "../contract/peers.js";
import { askEach } from "../listener/ask-all.js";
import type { RowsAsOf, Silent } from "./row-cache.js";

/**
 * The questions of servers to each other about the nodes with streams to them. Null: that server does not know the
 * node.
 */
export interface FleetQuestions {
  /** A page of rows by id. */
  rows(asked: { readonly after?: string | undefined; readonly most: number }): Promise<RowsPage>;
  nodes(asked: NodeListQuery): ReturnType<ServedFleet["nodes"]>;
  node(asked: {
    readonly id: string;
    readonly type?: string | undefined;
    readonly all: boolean;
  }): Promise<object | null>;
  resources(asked: {
    readonly id: string;
    readonly query: NodeResourcesQuery;
  }): Promise<Awaited<ReturnType<ServedFleet["resources"]>> | null>;
  contents(asked: {
    readonly id: string;
    readonly type: string;
    readonly name: string;
  }): Promise<Awaited<ReturnType<ServedFleet["contents"]>> | null>;
  timeline(asked: string): Promise<Awaited<ReturnType<ServedFleet["timeline"]>> | null>;
  loads(asked: string): ReturnType<ServedFleet["loads"]>;
}

/** A page of rows. */
export interface RowsPage {
  readonly rows: readonly NodeRow[];
  readonly hasMore: boolean;
}

/** The answers of the others, and the servers that did not answer. */
export interface Gathered<T> {
  readonly answers: readonly T[];
  readonly silent: readonly Silent[];
}

/** How many rows one answer has. */
const rowsInPage = 2_000;

/** The answer of a server that knows the node. */
type Known<Q extends keyof FleetQuestions> = NonNullable<Awaited<ReturnType<FleetQuestions[Q]>>>;

/** Asks all peers the same, at once. Does not reject. */
export async function askPeers<Q extends keyof FleetQuestions>(
  peers: readonly PeerServer[],
  question: Q,
  asked: Parameters<FleetQuestions[Q]>[0],
): Promise<Gathered<Known<Q>>> {
  type Answer = Known<Q> | null;
  const found = await gather(peers, async (peer) => (await peer.ask(`fleet.${question}`, asked)) as Answer);
  const answers = found.answers.filter((answer): answer is Known<Q> => answer !== null && answer !== undefined);
  return { answers, silent: found.silent };
}

/** All rows of all peers, page by page. */
export async function peersRows(peers: readonly PeerServer[]): Promise<Gathered<readonly NodeRow[]>> {
  return await gather(peers, async (peer) => {
    const rows: NodeRow[] = [];
    for (;;) {
      const asked = { after: rows.at(-1)?.id, most: rowsInPage };
      const page = (await peer.ask("fleet.rows", asked)) as RowsPage;
      rows.push(...page.rows);
      if (!page.hasMore || page.rows.length === 0) return rows;
    }
  });
}

/** A page of a server's rows. */
export function rowsPage({ rows }: RowsAsOf, { after, most }: Parameters<FleetQuestions["rows"]>[0]): RowsPage {
  const from = after === undefined ? 0 : rows.findIndex(({ id }) => id > after);
  if (from < 0) return { rows: [], hasMore: false };
  return { rows: rows.slice(from, from + most), hasMore: from + most < rows.length };
}

async function gather<T>(peers: readonly PeerServer[], ask: (peer: PeerServer) => Promise<T>): Promise<Gathered<T>> {
  const { answers, silent = [] } = await askEach(peers, ask);
  return { answers: answers.map(({ answer }) => answer), silent };
}
