import { noSuchType, printable, resourceTypes } from "@xdskit/api";
import { connectWords } from "@xdskit/client/connecting";
import { grpcStatusName } from "@xdskit/grpc-server/messages";
import { formatAddress, type ListenAddress } from "@xdskit/server/address";
import {
  createStatusClient,
  matchesGlob,
  readServerEntry,
  type SourceTrouble,
  type StatusClient,
  StatusError,
} from "@xdskit/server/status-client";
import { inputFailure, reportFailure } from "../output/failure.js";
import { connectError } from "../output/messages/connect-error.js";
import { isInTheWay, troubleLine } from "../output/messages/trouble-line.js";
import { createScreenPage, type Screen } from "../output/screen/screen-page.js";
import { wrapped } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { untilStopped } from "../process/until-stopped.js";
import { type TlsOptions, tlsOf } from "../settings/options/tls-options.js";
import { type ClientView, clientView, isBehind, standingOf, typeName } from "./client-view.js";
import { clientDetails, statusPage } from "./table.js";

export interface StatusCommandOptions extends Omit<TlsOptions, "tokenFile"> {
  readonly server: ListenAddress;
  /** The one node to show in detail. */
  readonly node: string | undefined;
  /** Ids of nodes, exact or with `*` and `?`; empty means every node. */
  readonly nodes: readonly string[];
  /** Names (`cluster`, `cds`) or type URLs; empty means every type. */
  readonly types: readonly string[];
  readonly json: boolean;
  readonly watch: boolean;
  /** Lists synced nodes, too. */
  readonly all: boolean;
  /** The exit status says whether all is well: `isBehind`. */
  readonly check: boolean;
  /** Milliseconds. */
  readonly interval: number;
  readonly timeout: number;
  /** Where a page is drawn again; undefined: it is printed below the one before. */
  readonly screen: Screen | undefined;
}

/**
 * Prints what clients have, once, or until a signal comes or the reader is gone. Resolves to the exit status: 0, 1 if
 * there is no answer, the node is not there, or `check` finds something, 2 for wrong usage.
 */
export async function runStatus(options: StatusCommandOptions, terminal: Terminal): Promise<number> {
  const types = new Set<string>();
  for (const name of options.types) {
    const url = resourceTypes.find(name)?.typeUrl ?? (name.includes("/") ? name : undefined);
    if (url === undefined) {
      reportFailure(terminal, "status", noSuchType(name, resourceTypes));
      return exitStatus.usage;
    }
    types.add(url);
  }
  const client = createStatusClient(options.server, { tls: tlsOf(options) });
  const look = () => lookOnce(client, options, types);
  try {
    return options.watch ? await watch(look, options, terminal) : await once(look, options, types, terminal);
  } catch (error) {
    // A certificate file that cannot be used.
    return inputFailure(terminal, "status", error);
  } finally {
    client.close();
  }
}

/** The answer of a server. */
interface StatusView {
  readonly clients: readonly ClientView[];
  /** Its sources whose newest content is not served. */
  readonly troubles: readonly SourceTrouble[];
}

/** The result, or why there is none. */
type StatusLook = StatusView | { readonly problem: string };

async function lookOnce(
  client: StatusClient,
  options: StatusCommandOptions,
  types: ReadonlySet<string>,
): Promise<StatusLook> {
  const { node, nodes, timeout: timeoutMs } = options;
  try {
    const configs = await client.ask({ nodes: node === undefined ? nodes : [node], timeoutMs });
    const troubles = configs.flatMap((config) => readServerEntry(config) ?? []);
    const ofClients = configs.filter((config) => readServerEntry(config) === undefined);
    const all = ofClients.map(clientView).filter(({ id }) => node === undefined || id === node);
    if (node !== undefined && all.length === 0) return { problem: `no node "${node}" has a discovery stream` };
    const clients = all.flatMap((view) => ofTypes(view, types) ?? []);
    if (node !== undefined && clients.length === 0)
      return { problem: `node "${node}" asks for no ${Array.from(types, typeName).join(" and no ")}` };
    clients.sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
    return { clients, troubles };
  } catch (error) {
    if (error instanceof StatusError) return { problem: askingProblem(error, options) };
    throw error;
  }
}

async function once(
  look: () => Promise<StatusLook>,
  options: StatusCommandOptions,
  types: ReadonlySet<string>,
  terminal: Terminal,
): Promise<number> {
  const found = await look();
  if ("problem" in found) {
    reportFailure(terminal, "status", found.problem);
    return exitStatus.failed;
  }
  terminal.out(shown(found, options, 2, terminal));
  const unchecked = options.check ? uncheckedBy(found, options, types) : undefined;
  if (unchecked !== undefined) {
    reportFailure(terminal, "status", unchecked);
    return exitStatus.failed;
  }
  const isWell = !found.troubles.some(isInTheWay) && !found.clients.some(({ state }) => isBehind(state));
  return isWell || !options.check ? exitStatus.ok : exitStatus.failed;
}

async function watch(
  look: () => Promise<StatusLook>,
  options: StatusCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const page = createScreenPage(terminal, options.json ? undefined : options.screen);
  try {
    await untilStopped(terminal, options.interval, look, (found) => {
      // Waits for a server that restarts.
      if ("problem" in found) page.problem(`xdskit status: ${printable(found.problem)}`);
      else page.show(shown(found, options, undefined, terminal));
      return "again";
    });
    return exitStatus.ok;
  } finally {
    page.end();
  }
}

function shown(
  { clients, troubles }: StatusView,
  options: StatusCommandOptions,
  indent: number | undefined,
  terminal: Terminal,
): string {
  const now = new Date();
  const paint = paintOf(terminal, "out");
  if (options.json) {
    return `${JSON.stringify({ server: formatAddress(options.server), at: now, troubles, nodes: clients }, undefined, indent)}\n`;
  }
  const columns = terminal.columns?.("out");
  const whole = (text: string) => (columns === undefined ? text : wrapped(text, columns));
  const said = troubles.map((trouble) => troubleLine(trouble, paint));
  if (options.node !== undefined)
    return whole(
      said.map((line) => `${line}\n`).join("") + clients.map((one) => clientDetails(one, now, paint)).join(""),
    );
  const { screen, all, nodes, watch } = options;
  const width = watch ? screen && screen.columns() - 1 : columns;
  const size = width === undefined ? undefined : { rows: Number.POSITIVE_INFINITY, columns: width };
  // Who names nodes wants to see them.
  return statusPage(clients, { said, all: all || nodes.length > 0, size, paint });
}

/** Says that a check checks nothing of what is named: a misspelled node, a type that no node asks for. */
function uncheckedBy({ clients }: StatusView, { nodes }: StatusCommandOptions, types: ReadonlySet<string>) {
  const asked = new Set(clients.flatMap((client) => client.types.map(({ typeUrl }) => typeUrl)));
  const type = [...types].find((typeUrl) => !asked.has(typeUrl));
  if (type !== undefined) return `no node asks for ${typeName(type)}`;
  const node = nodes.find((pattern) => !clients.some(({ id }) => matchesGlob(pattern, id)));
  const asks = types.size === 0 ? "" : ` and asks for ${Array.from(types, typeName).join(" or ")}`;
  return node === undefined ? undefined : `no node fits ${JSON.stringify(node)}${asks}`;
}

/** Undefined for a client that asks for none of them. */
function ofTypes(view: ClientView, types: ReadonlySet<string>): ClientView | undefined {
  if (types.size === 0) return view;
  const left = view.types.filter(({ typeUrl }) => types.has(typeUrl));
  return left.length === 0 ? undefined : { ...view, types: left, ...standingOf(left) };
}

/** gRPC's codes that say more than their texts. */
function askingProblem({ code, message }: StatusError, { server, timeout }: StatusCommandOptions): string {
  const where = formatAddress(server);
  const text = printable(message);
  switch (code) {
    case 4:
      return `${where} did not answer within ${timeout} ms`;
    case 12:
      return `${where} does not serve client status (CSDS): envoy.service.status.v3.ClientStatusDiscoveryService is not there`;
    case 14:
      // A server answers, and refuses.
      if (text.includes("[XDSKIT_TLS_HANDSHAKE]")) return `${where}: ${connectError(text)}`;
      return `nobody answers at ${where}: is it the gRPC address of a running server that is ready? (${connectWords(connectError(text))})`;
    case 8:
      return `${where}: ${text} (--node asks for fewer)`;
    default:
      return `${where}: ${text} (${grpcStatusName(code)})`;
  }
}
