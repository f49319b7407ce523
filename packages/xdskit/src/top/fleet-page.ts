import { printable } from "@xdskit/api";
import { shortId } from "../comparison/short-id.js";
import type { Paint } from "../output/colours.js";
import { troubleLine } from "../output/messages/trouble-line.js";
import type { FleetLook } from "./fleet-look.js";
import type { MetricRates } from "./metric-totals.js";
import { grouped, nodesPage, type PageSize, roughDuration, statesLine } from "./node-table.js";

/** How many problems, or troubles of sources, are listed above the nodes. */
const maxProblems = 3;

/**
 * Nodes by state, what is wrong, and the worst nodes, as lines that fit: no line is longer than the terminal is wide,
 * and there are no more of them than it has rows.
 */
export function fleetPage(
  look: FleetLook,
  {
    server,
    rates,
    size,
    paint,
  }: {
    readonly server: string;
    /** Undefined: not for `status`, and not before there are two looks. */
    readonly rates: MetricRates | undefined;
    readonly size: PageSize | undefined;
    readonly paint: Paint;
  },
): string {
  // Silent servers follow the counts of the nodes, in `top` too.
  const troubles = look.troubles.filter(({ kind }) => kind !== "silent").map((trouble) => troubleLine(trouble, paint));
  const head = [
    ...troubles.slice(0, size === undefined || size.rows === Number.POSITIVE_INFINITY ? undefined : maxProblems),
    ...headLines(look, server, rates, paint),
    ...problemLines(look, paint),
  ];
  const { summary, rows, total } = look;
  const nodes = summary.replicas.length > 1 ? rows : rows.map((row) => ({ ...row, replicas: undefined }));
  return nodesPage(head, nodes, { total, size, paint });
}

function headLines(
  { name, summary, metrics, heads }: FleetLook,
  server: string,
  rates: MetricRates | undefined,
  paint: Paint,
): readonly string[] {
  const { states, silent } = summary;
  const lag = rates?.lag == null ? "-" : `${roughDuration(rates.lag.p50Ms)}, slowest ${roughDuration(rates.lag.p99Ms)}`;
  const second = `pushes ${rates === undefined ? "-" : `${grouped(Math.round(rates.pushesPerSecond))}/s`}   lag ${lag}`;
  const revisions = heads.map(({ layer, number, id }) => `${printable(layer)} #${number} ${shortId(id)}`).join(", ");
  const quiet = silent.map(({ replica, reason }) =>
    paint("error", `${printable(replica)} does not answer: ${printable(reason)}`),
  );
  return [
    `${statesLine(states, paint)}   ${name === undefined ? "" : `${paint("strong", printable(name))}, `}${paint("quiet", server)}`,
    ...(metrics === undefined ? [] : [second]),
    ...(revisions === "" ? [] : [`newest: ${revisions}`]),
    ...quiet.slice(0, 2),
  ];
}

function problemLines({ problems, metrics }: FleetLook, paint: Paint): readonly string[] {
  if (metrics === undefined) return [];
  if (problems.length === 0) return [paint("good", "no problems"), ""];
  const shown = problems.slice(0, maxProblems).map(({ severity, title }) => {
    return `  ${paint(severity, severity)}  ${printable(title)}`;
  });
  const count = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  const rest = problems.length > maxProblems ? `, the worst ${maxProblems}` : "";
  return [`${count}${rest}:`, ...shown, ""];
}
