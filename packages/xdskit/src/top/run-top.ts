import { printable } from "@xdskit/api";
import { type ApiClient, createApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ApiServer } from "../api-client/api-server.js";
import { createScreenPage, type Screen } from "../output/screen/screen-page.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { untilStopped } from "../process/until-stopped.js";
import { allIsWell, type FleetFilter, type FleetLook, lookAtFleet } from "./fleet-look.js";
import { fleetPage } from "./fleet-page.js";
import { type MetricRates, ratesBetween } from "./metric-totals.js";

/** The options of `top`, and of `status --watch` at an admin listener. */
export interface TopOptions {
  /** For messages. */
  readonly command: "top" | "status";
  /** The admin listener. */
  readonly server: ApiServer;
  readonly filter: FleetFilter;
  readonly output: "text" | "json";
  /** Milliseconds. */
  readonly interval: number;
  readonly timeout: number;
  /** Ends after this many pages; undefined: when a signal comes. */
  readonly count?: number | undefined;
  /** Lists synced nodes, too; `top` does without it. */
  readonly all?: boolean | undefined;
  /** The exit status says whether all is well: 1 if a node is not synced, or something is not served. */
  readonly check?: boolean | undefined;
  /** Where a page is drawn again; undefined: pages follow each other, each where something is different. */
  readonly screen: Screen | undefined;
}

/** Where there is no terminal, `top` lists this many nodes; `status` lists all. */
const maxPlain = 20;

/**
 * Shows the state of a fleet again and again, until a signal comes or the reader is gone. Resolves to the exit status:
 * 0, or 1 if one of the counted pages was not shown to a reader: a server did not answer, or it was stopped before; 2
 * if there is no such state or group.
 */
export async function runTop(options: TopOptions, terminal: Terminal): Promise<number> {
  const { server, timeout, interval, count = Number.POSITIVE_INFINITY } = options;
  const client = createApiClient({ server, timeoutMs: timeout });
  const show = shower(options, client, terminal);
  let isReaderGone = false;
  void terminal.closed?.then(() => {
    isReaderGone = true;
  });
  try {
    let shown = 0;
    let isRefused = false;
    let isWell = true;
    const showNext = (found: FleetLook | ApiError) => {
      const isPage = show(found);
      // What is asked for does not exist, such as a group: to ask again would change nothing.
      isRefused = found instanceof ApiError && found.status === 400;
      if (isRefused) return "end";
      if (isPage) shown += 1;
      if (!(found instanceof ApiError)) isWell = allIsWell(found);
      // It waits for a server that restarts, but not for pages that were counted.
      return shown < count && (isPage || options.count === undefined) ? "again" : "end";
    };
    await untilStopped(terminal, interval, () => look(options, client), showNext);
    if (isRefused) return exitStatus.usage;
    const isDone = options.count === undefined || shown === count || isReaderGone;
    if (options.check && !isWell) return exitStatus.failed;
    return isDone ? exitStatus.ok : exitStatus.failed;
  } finally {
    client.close();
    show.end();
  }
}

async function look({ filter, screen, command, output, all: isAll = false }: TopOptions, client: ApiClient) {
  try {
    const isTop = command === "top";
    const all = isTop ? maxPlain : Number.POSITIVE_INFINITY;
    const rows = !isTop && output === "json" ? all : (screen?.rows() ?? all);
    return await lookAtFleet(client, filter, { rows, isTop, notSynced: !isTop && !isAll && output === "text" });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

/** Shows what a look found; false where it found nothing. */
function shower({ command, output, screen }: TopOptions, client: ApiClient, terminal: Terminal) {
  const page = createScreenPage(terminal, output === "json" ? undefined : screen);
  const paint = paintOf(terminal, "out");
  let last: FleetLook | undefined;
  let before = "";
  const show = (found: FleetLook | ApiError): boolean => {
    if (found instanceof ApiError) {
      page.problem(`xdskit ${command}: ${printable(found.message)}`);
      return false;
    }
    const rates = last?.metrics && found.metrics && ratesBetween(last.metrics, found.metrics);
    last = found;
    if (output === "json") {
      const shown = command === "top" ? topJson(found, client.server, rates) : statusJson(found, client.server);
      terminal.out(`${JSON.stringify(shown)}\n`);
      return true;
    }
    const columns = terminal.columns?.("out");
    const printed = columns === undefined ? undefined : { rows: Number.POSITIVE_INFINITY, columns };
    const drawn = screen && { rows: Math.max(3, screen.rows() - 1), columns: Math.max(20, screen.columns() - 1) };
    const size = drawn ?? printed;
    const text = fleetPage(found, { server: client.server, rates, size, paint });
    // Without a terminal: one block for each change, with an empty line between two.
    if (screen !== undefined) page.show(text);
    else if (text !== before) terminal.out(before === "" ? text : `\n${text}`);
    before = text;
    return true;
  };
  return Object.assign(show, { end: () => page.end() });
}

/** The same keys as over gRPC, and the counts. */
function statusJson({ name, summary, rows, troubles }: FleetLook, server: string): object {
  return {
    server,
    ...(name === undefined ? {} : { name }),
    at: summary.asOf,
    troubles,
    nodes: rows,
    states: summary.states,
  };
}

function topJson({ summary, rows, problems }: FleetLook, server: string, rates: MetricRates | undefined): object {
  const { asOf, nodes, states } = summary;
  const { pushesPerSecond = null, lag = null } = rates ?? {};
  return { server, at: asOf, nodes, states, pushesPerSecond, lag, problems, worst: rows };
}
