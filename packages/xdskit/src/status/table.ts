import { printable } from "@xdskit/api";
import { type Paint, plain } from "../output/colours.js";
import { counted } from "../output/counts.js";
import { stateColours } from "../output/state-colours.js";
import { type NodeLine, nodesPage, type PageSize, revisionsText, statesLine } from "../top/node-table.js";
import { type ClientView, concernOf, type ErrorView, type ResourceStatusView, type TypeView } from "./client-view.js";

/** How many clients are in each state, and a line for each that is not synced, the worst first. */
export function statusPage(
  clients: readonly ClientView[],
  page: {
    /** Lines that come first. */
    readonly said?: readonly string[];
    /** Lists synced clients, too. */
    readonly all?: boolean;
    /** Undefined: nothing is cut. */
    readonly size?: PageSize | undefined;
    readonly paint?: Paint;
  } = {},
): string {
  const { said = [], all = false, size, paint = plain } = page;
  const states: Record<string, number> = {};
  for (const { state } of clients) states[state] = (states[state] ?? 0) + 1;
  const worstFirst = clients.toSorted((a, b) => concernOf(b.state) - concernOf(a.state));
  const listed = worstFirst.filter(({ state }) => all || state !== "synced").map(nodeLine);
  return nodesPage([...said, statesLine(states, paint)], listed, { total: listed.length, size, paint });
}

function nodeLine(client: ClientView): NodeLine {
  const { id, scope, state, userAgent, revisions, types, why } = client;
  const behind = types.reduce((sum, one) => sum + one.behind, 0);
  const missing = types.reduce((sum, one) => sum + missingCount(one), 0);
  const isLeast = types.some(({ behindIsLeast }) => behindIsLeast);
  const unreported = types.flatMap((one) => (one.untoldTtls > 0 ? [`${one.type}: ${unreportedText(one)}`] : []));
  return {
    // A gRPC client reports each of its targets separately.
    id: scope === "" ? id || "-" : `${id} (${scope})`,
    state,
    client: userAgent,
    revisions,
    behind: `${behind}${isLeast ? "+" : ""}${missing === 0 ? "" : `, ${missing} missing`}`,
    why: why || unreported.join("; "),
  };
}

/** The types of one client, and below each the unsynced resources with the reason. */
export function clientDetails(client: ClientView, now: Date, paint: Paint = plain): string {
  const { userAgent, cluster, revisions = [] } = client;
  const runs = revisions.length > 0 && `runs ${revisionsText(revisions)}`;
  const about = [userAgent, cluster && `cluster ${cluster}`, runs].filter((part) => part !== "" && part !== false);
  const lines = [
    `${paint("strong", printable(nodeLine(client).id))}: ${painted(client.state, paint)}${about.length > 0 ? ` (${printable(about.join(", "))})` : ""}`,
  ];
  for (const type of client.types) {
    lines.push(`  ${printable(type.type)}: ${typeText(type, now)}`);
    for (const resource of type.resources) {
      lines.push(`    ${printable(resource.name)}: ${resourceText(resource, type, now)}`);
    }
    const listed = type.resources.length - missingCount(type);
    if (type.behindIsLeast || type.behind > listed) lines.push("    … and more");
  }
  return lines.map((line) => `${line}\n`).join("");
}

function typeText(type: TypeView, now: Date): string {
  const { state, acknowledged, sent, wanted, rejected, lastUpdated } = type;
  const age = lastUpdated === undefined ? "" : `, ${ago(lastUpdated, now)}`;
  const versions = [
    acknowledged && `acknowledged ${acknowledged}`,
    sent !== undefined && sent !== acknowledged && sent !== rejected ? `sent ${sent}` : undefined,
    rejected && `rejected ${rejected}`,
    wanted && `to be sent ${wanted}`,
  ].filter((part) => part !== undefined && part !== "");
  const count = type.behind > 0 ? `, ${behindCount(type)} behind` : "";
  const missing = missingCount(type) > 0 ? `, ${missingCount(type)} missing` : "";
  const unreported = type.untoldTtls > 0 ? `, ${unreportedText(type)}` : "";
  // If it names the bad resources, these have their own lines.
  const isReported = type.resources.some(({ error, name }) => error !== undefined || waitOf(type, name) !== undefined);
  const reason = type.why === "" || isReported ? "" : `: ${printable(type.why)}`;
  return `${state}${versions.length === 0 ? "" : `, ${printable(versions.join(", "))}`}${count}${missing}${unreported}${age}${reason}`;
}

function resourceText(
  { name, state, version, lastUpdated, error }: ResourceStatusView,
  type: TypeView,
  now: Date,
): string {
  const when = (date: Date | undefined) => (date === undefined ? "" : ` ${ago(date, now)}`);
  switch (state) {
    case "rejected":
      return `rejected${when(error?.at ?? lastUpdated)}${reasonOf(error)}`;
    case "sent":
      return `sent${when(lastUpdated)}, waits for its ACK`;
    case "pending": {
      const wait = waitOf(type, name);
      if (wait !== undefined) return printable(wait.why);
      return version === "" ? "not received yet" : `not sent yet; it has ${printable(version)}`;
    }
    case "missing":
      return "asked for, and nobody has it";
    case "unknown":
    case "stale":
    case "held-back":
    case "synced":
      return state;
  }
}

/** What a resource waits for. */
function waitOf({ waits }: TypeView, name: string): TypeView["waits"][number] | undefined {
  return waits.find(({ names }) => names.includes(name));
}

function reasonOf(error: ErrorView | undefined): string {
  return error === undefined || error.details === "" ? "" : `: ${printable(error.details)}`;
}

function behindCount({ behind, behindIsLeast }: TypeView): string {
  return `${behind}${behindIsLeast ? "+" : ""}`;
}

function missingCount({ resources }: TypeView): number {
  return resources.filter(({ state }) => state === "missing").length;
}

/** The client keeps resources that have a TTL. */
export function unreportedText({ untoldTtls }: Pick<TypeView, "untoldTtls">): string {
  return untoldTtls === 0 ? "" : `${counted(untoldTtls, "TTL")} not told to the client`;
}

function ago(date: Date | undefined, now: Date): string {
  if (date === undefined) return "-";
  const seconds = Math.max(0, Math.round((now.getTime() - date.getTime()) / 1000));
  if (seconds < 120) return `${seconds}s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

/** The text of a state in its colour. */
function painted(text: string, paint: Paint): string {
  const colour = stateColours[text];
  return colour === undefined ? text : paint(colour, text);
}
