import { listNames, printable } from "@xdskit/api";
import type { BenchReport, FigureSpread, WaitingReport } from "@xdskit/fleet";
import { type Paint, plain } from "../output/colours.js";
import { counted } from "../output/counts.js";

/** The report as a table for people. */
export function reportText(report: BenchReport, paint: Paint = plain): string {
  const { state, load, changes, received, sent, streams, generator } = report;
  const rows: (readonly [string, string])[] = [
    ["fleet", fleetText(report)],
    [
      "time",
      `${seconds(report.seconds.total)}, ${seconds(report.seconds.steady)} of it with everything there${report.ended === "stopped" ? "; stopped" : ""}`,
    ],
    ["nodes", nodesText(state, report.nodes)],
    ...state.waitingFor.map((waiting) => ["waiting", waitingText(waiting)] as const),
    ...report.resources.map(({ type, fewest, most, differentSets }) => {
      const each = fewest === most ? `${fewest}` : `${fewest} to ${most}`;
      return ["resources", `${each} of ${type} each, ${counted(differentSets, "different set")}`] as const;
    }),
    ["connecting", spreadText(load.connectMs)],
    ["everything there", `${spreadText(load.completeMs)} since the start`],
    ["", `${spreadText(load.completeAfterDialMs)} since a node's first attempt`],
    ["changes", `${changes.count}; from the first node to the last: ${spreadText(changes.spreadMs)}`],
    [
      "received",
      `${counted(received.messages, "message")}, ${counted(received.resources, "resource")} (${received.resourcesPerMessage} a message), ${counted(received.removed, "removal")}, ${bytesText(received.bytes)}`,
    ],
    [
      "sent",
      `${counted(sent.messages, "message")}, ${counted(sent.acknowledgements, "acknowledgement")}, ${counted(sent.rejections, "rejection")}, ${bytesText(sent.bytes)}`,
    ],
  ];
  if (report.reconnects.count > 0) {
    const { count, connectMs } = report.reconnects;
    rows.push([
      "reconnects",
      `${count}: ${spreadText(connectMs)}; ${counted(received.again, "resource")} sent again though claimed`,
    ]);
  }
  if (report.stalls.nodes > 0) {
    const { nodes, resumed, resumeMs } = report.stalls;
    rows.push([
      "stalled",
      `${counted(nodes, "node")}; ${resumed} found something to read on return: ${spreadText(resumeMs)}`,
    ]);
  }
  rows.push([
    "streams",
    `${streams.opened} opened, ${streams.failed} failed (${streams.refused} without an answer), ${streams.ended} ended by the server; ${counted(report.failedConnections, "failed attempt")} to connect`,
  ]);
  for (const { status, message, count } of report.errors)
    rows.push(["error", `${count} × ${status}: ${printable(message)}`]);
  rows.push(["this program", generatorText(generator)]);
  const width = Math.max(...rows.map(([title]) => title.length));
  const lines = rows.map(([title, text]) => `${paint("strong", title.padEnd(width))}  ${text}`.trimEnd());
  if (generator.isLimit) {
    lines.push(
      "",
      "This program was busy nearly all the time: what it measured is its own limit as much as the server's.",
    );
  }
  return `${lines.join("\n")}\n`;
}

function fleetText({ nodes, connections, groups, variant, ads, types, servers }: BenchReport): string {
  const over = `${counted(nodes, "node")} on ${counted(connections, "connection")}${groups > 1 ? ` in ${groups} groups` : ""}`;
  return `${over} to ${servers.join(", ")}, ${variant}, ${ads ? "ADS" : "a stream a type"}: ${types.join(", ")}`;
}

function nodesText(state: BenchReport["state"], nodes: number): string {
  const { connected, complete, unanswered, withoutResources } = state;
  const parts = [`${connected} of ${nodes} connected`, `${complete} had everything`];
  if (unanswered > 0) parts.push(`${unanswered} never got an answer`);
  if (withoutResources > 0) parts.push(`${withoutResources} hold no resource`);
  return parts.join(", ");
}

function waitingText({ type, nodes, names, more }: WaitingReport): string {
  const which = names.length === 0 ? "any answer" : printable(listNames(names, names.length, names.length + more));
  return `${counted(nodes, "node")} for ${type}: ${which}`;
}

function generatorText({
  cpuSeconds,
  busiest,
  cpuPerMessageUs,
  delayMs,
  memoryBytes,
}: BenchReport["generator"]): string {
  const each = cpuPerMessageUs === null ? "" : `, ${cpuPerMessageUs} µs a message`;
  const busy = `${Math.round(busiest * 100)} % of a core at most`;
  return `${cpuSeconds} s CPU${each}, ${busy}; ${bytesText(memoryBytes)}; up to ${delayMs.max} ms late (p99 ${delayMs.p99} ms)`;
}

function spreadText(spread: FigureSpread | null): string {
  if (spread === null) return "-";
  const { p50, p90, p99, max } = spread;
  return `p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, max ${max} ms`;
}

function seconds(value: number): string {
  return `${value} s`;
}

function bytesText(bytes: number): string {
  if (bytes < 1e4) return `${bytes} B`;
  return bytes < 1e7 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(0)} MB`;
}
