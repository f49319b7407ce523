import { describe as describeFinding } from "@xdskit/api";
import type { NodeState, NodeStates, NodeStatus, StreamStatus, XdsServer } from "@xdskit/server";
import { counted } from "../output/counts.js";
import { printable } from "../output/printable.js";
import { skippedText } from "../output/skipped.js";
import { version } from "../process/version.js";
import { untoldText } from "../status/table.js";
import { waitText } from "../status/wait-text.js";
import type { AdminState } from "./admin-state.js";
import { type Html, html, table } from "./html.js";
import { type AnySourceStatus, rolledBackText } from "./source-status.js";

/** The sources of the dashboard. */
export type DashboardInput = Pick<AdminState, "readiness" | "sources" | "nodes" | "rollouts">;

/** The largest number of nodes in the list, those with problems first; and of rows in each other list. */
const mostNodes = 100;
const mostRows = 20;
/** The page reloads after so many seconds. */
const refreshSeconds = 5;

/** Nodes with problems come first. */
const worstFirst: readonly NodeState[] = ["rejected", "stale", "pending", "synced"];

/**
 * The server on one page, for people: errors in files, the state of nodes, and rollouts. Plain HTML without a script;
 * it shows names, never contents. Costs the nodes that it lists, and a look at the others if some are not synced.
 */
export function dashboard({ readiness, sources, nodes, rollouts }: DashboardInput, pages: Iterable<string>): string {
  const parts = [
    html`<h1>xdskit ${version} <small class="${readiness()}">${readiness()}</small></h1>`,
    ...sources().map(sourcePart),
    nodesPart(nodes),
    rolloutsPart(rollouts),
    html`<p>${Array.from(pages, (path) => html`<a href="${path}">${path}</a> `)}</p>`,
  ];
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="${refreshSeconds}">
<meta name="viewport" content="width=device-width">
<title>xdskit</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 1em 2em; color-scheme: light dark }
table { border-collapse: collapse }
td, th { text-align: left; vertical-align: top; padding: 2px 1em 2px 0; border-bottom: 1px solid #8884 }
.rejected, .refused, .error, .halted { color: #d33 }
.stale, .partial, .away, .warning, .stopping, .starting { color: #c70 }
.synced, .applied, .connected, .ready, .completed { color: #292 }
</style>
</head>
<body>
${parts}
</body>
</html>
`.text;
}

function sourcePart({
  name,
  state,
  findings,
  skipped,
  restored,
  rolledBack,
  lastApplied,
  lastError,
}: AnySourceStatus): Html {
  const served = restored == null ? "" : `, its last good revision ${restored.revision} of ${restored.time} is served`;
  const back = rolledBack == null ? "" : `, ${rolledBackText(rolledBack)}`;
  // An origin that is back has no problem.
  const wrong = state === "connected" || !lastError ? "" : `, ${lastError.at}: ${printable(lastError.message)}`;
  const text = skippedText(skipped);
  const left = text === undefined ? "" : `, ${text}`;
  const listed = findings
    .slice(0, mostRows)
    .map((finding) => [{ text: finding.severity, state: finding.severity }, { text: describeFinding(finding) }]);
  return html`<h2>${printable(name)} <small class="${state}">${state}</small></h2>
<p>${lastApplied === null ? "nothing was applied yet" : `applied ${lastApplied}`}, ${counted(findings.length, "finding")}${served}${back}${left}${wrong}</p>
${table([], listed)}${moreRows(findings.length - listed.length)}`;
}

function nodesPart(server: Pick<XdsServer, "nodes" | "nodeStates">): Html {
  const states = server.nodeStates();
  const total = worstFirst.reduce((sum, state) => sum + states[state], 0);
  const counts = worstFirst.filter((state) => states[state] > 0);
  const listed = worstNodes(server, states);
  const rows = listed.map((status) => [
    { text: status.id, link: `/api/v1/nodes/${encodeURIComponent(status.id)}` },
    { text: status.state, state: status.state },
    { text: status.group },
    { text: status.node.cluster },
    { text: [status.node.userAgentName, status.node.userAgentVersion].filter((part) => part !== "").join(" ") },
    { text: [...new Set(status.streams.flatMap(typesOf))].join(", ") },
    { text: reasonCell(status) },
  ]);
  return html`<h2>${counted(total, "node")} ${counts.map((state) => html`<small class="${state}">${states[state]} ${state}</small> `)}</h2>
${table(["node", "state", "group", "cluster", "client", "types", "why"], rows)}${moreRows(total - listed.length)}`;
}

/** Skips states without a node: a search would cost all streams. */
function worstNodes(server: Pick<XdsServer, "nodes">, states: NodeStates): readonly NodeStatus[] {
  const found: NodeStatus[] = [];
  for (const state of worstFirst) {
    if (states[state] > 0 && found.length < mostNodes) {
      found.push(...server.nodes({ state, most: mostNodes - found.length }));
    }
  }
  return found;
}

/** `cluster`, or `cluster rejected (1 behind)`. */
function typesOf({ types }: StreamStatus): readonly string[] {
  return types.map(({ type, state, behind }) =>
    state === "synced" ? type : `${type} ${state}${behind > 0 ? ` (${behind} behind)` : ""}`,
  );
}

/** What the client answered, what it waits for, or that it is not told TTLs. */
function reasonCell({ streams }: NodeStatus): string {
  const types = streams.flatMap((stream) => stream.types);
  const [rejected] = types.flatMap((type) => (type.rejected === undefined ? [] : [type.rejected.message]));
  if (rejected !== undefined) return rejected;
  const [wait] = types.flatMap(({ waits }) => waits);
  if (wait !== undefined) return waitText(wait, []);
  return untoldText({ untoldTtls: types.reduce((sum, { untoldTtls }) => sum + untoldTtls, 0) });
}

function rolloutsPart(server: Pick<XdsServer, "rollouts" | "quarantines">): Html {
  const rollouts = server.rollouts().map(({ group, state, step, steps, changed, nodes, reason }) => [
    { text: group },
    { text: state, state },
    { text: `step ${step} of ${steps.length}` },
    { text: counted(changed, "resource") },
    {
      text: `${nodes.reached} reached, ${nodes.pending} pending, ${nodes.rejected} rejected, ${nodes.held} held back`,
    },
    { text: reason },
  ]);
  const quarantines = server.quarantines();
  const kept = quarantines
    .slice(0, mostRows)
    .map(({ group, type, name, cause, node, message }) =>
      [group, `${type} ${name}`, cause, node, message].map((text) => ({ text })),
    );
  if (rollouts.length === 0 && quarantines.length === 0) return html``;
  return html`<h2>Rollouts</h2>
${table(["group", "state", "step", "changes", "nodes", "why"], rollouts)}
<h2>${counted(quarantines.length, "content")} in quarantine</h2>
${table(["group", "resource", "cause", "node", "why"], kept)}${moreRows(quarantines.length - kept.length)}`;
}

function moreRows(count: number): Html {
  return count > 0 ? html`<p>and ${count} more</p>` : html``;
}
