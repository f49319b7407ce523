import { type Paint, plain } from "../output/colours.js";
import { counted } from "../output/counts.js";
import { printable } from "../output/printable.js";
import { cutToWidth } from "../output/screen/fit.js";
import { stateColours } from "../output/state-colours.js";
import {
  type ClientState,
  type ClientView,
  concernOf,
  type ErrorView,
  type ResourceStatusView,
  type TypeView,
} from "./client-view.js";

const columns = ["NODE", "TYPE", "STATE", "ACKED", "SENT", "REJECTED", "BEHIND", "UPDATED", "REASON"] as const;

/** A line for each type of each client. Ages are relative to `now`. */
export function statusTable(clients: readonly ClientView[], now: Date, paint: Paint = plain): string {
  const rows = clients.flatMap((client) =>
    client.types.length === 0
      ? [[clientName(client), ...columns.slice(1).map(() => "-")]]
      : client.types.map((type) => [clientName(client), ...cellsOf(type, now)]),
  );
  const lines = rows.length === 0 ? [] : aligned([[...columns], ...rows], paint);
  return [...lines, totals(clients)].map((line) => `${line}\n`).join("");
}

/**
 * The same for a terminal with this many columns that may have no room for all: how many there are in each state comes
 * first, then the worst, and lines are cut.
 */
export function fittedTable(clients: readonly ClientView[], now: Date, width: number, paint: Paint = plain): string {
  const worstFirst = clients.toSorted((a, b) => concernOf(b.state) - concernOf(a.state));
  const [total = "", ...table] = statusTable(worstFirst, now, paint).trimEnd().split("\n").toReversed();
  return [total, ...table.toReversed()].map((line) => `${cutToWidth(line, width)}\n`).join("");
}

function cellsOf(type: TypeView, now: Date): readonly string[] {
  return [
    ...[
      printable(type.type),
      type.state,
      short(type.acknowledged),
      short(type.sent),
      short(type.rejected),
      behind(type),
    ],
    ...[ago(type.lastUpdated, now), cutVersion(printable(type.why || untoldText(type)), 100)],
  ];
}

function totals(clients: readonly ClientView[]): string {
  const counts = new Map<ClientState, number>();
  for (const { state } of clients) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = Array.from(counts, ([state, count]) => `${count} ${state}`).join(", ");
  return clients.length === 0 ? "no nodes" : `${counted(clients.length, "node")}: ${states}`;
}

/** The types of one client, and below each the unsynced resources with the reason. */
export function clientDetails(client: ClientView, now: Date, paint: Paint = plain): string {
  const about = [client.userAgent, client.cluster && `cluster ${client.cluster}`].filter((part) => part !== "");
  const lines = [
    `${paint("strong", clientName(client))}: ${painted(client.state, paint)}${about.length > 0 ? ` (${printable(about.join(", "))})` : ""}`,
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
  const untold = type.untoldTtls > 0 ? `, ${untoldText(type)}` : "";
  // If it names the bad resources, these have their own lines.
  const isTold = type.resources.some(({ error, name }) => error !== undefined || waitOf(type, name) !== undefined);
  const reason = type.why === "" || isTold ? "" : `: ${printable(type.why)}`;
  return `${state}${versions.length === 0 ? "" : `, ${printable(versions.join(", "))}`}${count}${missing}${untold}${age}${reason}`;
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

/** A gRPC client reports each of its targets separately. */
function clientName({ id, scope }: ClientView): string {
  return printable(scope === "" ? id || "-" : `${id} (${scope})`);
}

function behind(type: TypeView): string {
  const missing = missingCount(type);
  return missing === 0 ? behindCount(type) : `${behindCount(type)}, ${missing} missing`;
}

function behindCount({ behind, behindIsLeast }: TypeView): string {
  return `${behind}${behindIsLeast ? "+" : ""}`;
}

function missingCount({ resources }: TypeView): number {
  return resources.filter(({ state }) => state === "missing").length;
}

/** The client keeps resources that have a TTL. */
export function untoldText({ untoldTtls }: Pick<TypeView, "untoldTtls">): string {
  return untoldTtls === 0 ? "" : `${counted(untoldTtls, "TTL")} not told to the client`;
}

/** Versions are long, and their beginnings distinguish them. */
function short(version: string | undefined): string {
  if (version === undefined) return "-";
  return /^[0-9a-f]{16}$/.test(version) ? version.slice(0, 8) : printable(cutVersion(version, 24));
}

function cutVersion(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function ago(date: Date | undefined, now: Date): string {
  if (date === undefined) return "-";
  const seconds = Math.max(0, Math.round((now.getTime() - date.getTime()) / 1000));
  if (seconds < 120) return `${seconds}s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

const stateColumn = columns.indexOf("STATE");

/** The text of a state in its colour; it may have spaces around it. */
function painted(text: string, paint: Paint): string {
  const colour = stateColours[text.trim()];
  return colour === undefined ? text : paint(colour, text);
}

function aligned(rows: readonly (readonly string[])[], paint: Paint): readonly string[] {
  const widths = columns.map((_, index) => rows.reduce((most, row) => Math.max(most, row[index]?.length ?? 0), 0));
  return rows.map((row, line) => {
    const cells = row.map((cell, index) => cell.padEnd(widths[index] ?? 0));
    if (line === 0) return paint("strong", cells.join("  ").trimEnd());
    return cells
      .map((cell, index) => (index === stateColumn ? painted(cell, paint) : cell))
      .join("  ")
      .trimEnd();
  });
}
