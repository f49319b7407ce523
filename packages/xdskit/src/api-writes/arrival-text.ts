import { maxListed, printable } from "@xdskit/api";
import type { ArrivalJson } from "../api-client/api-types.js";
import type { Paint } from "../output/colours.js";
import { counted } from "../output/counts.js";
import type { WaitResult } from "./wait-for-nodes.js";

/** How many nodes acknowledged a change, who rejected it with which words, and who is silent. */
export function arrivalText(
  { result, arrival }: { readonly result: WaitResult["result"]; readonly arrival: ArrivalJson },
  timeoutMs: number,
  paint: Paint,
): string {
  const { acknowledged, rejected, pending, "held-back": heldBack } = arrival.counts;
  const all = acknowledged + rejected + pending + heldBack;
  const servers = (arrival.uncounted ?? []).map(({ replica, reason }) => {
    // A server of a store of its own has no name.
    const server = replica === "this server" ? replica : `the server ${printable(replica)}`;
    return `  nodes of ${server} are not counted: ${printable(reason)}\n`;
  });
  if (all === 0 && result === "acknowledged") return "no node has a stream that this change concerns\n";
  const isGone = all === 0 && servers.length === 0;
  const within = `within ${timeoutMs / 1000} s`;
  const counts = [
    all === 0 ? `no node acknowledged it ${within}` : `${acknowledged} of ${counted(all, "node")} acknowledged it`,
    ...(rejected > 0 ? [`${rejected} rejected it`] : []),
    ...(heldBack > 0 ? [`${heldBack} held back by a rollout or a quarantine`] : []),
    ...(pending > 0 ? [`${pending} did not answer${result === "timeout" ? ` ${within}` : " yet"}`] : []),
  ];
  const of = (state: string) => arrival.nodes.filter((node) => node.state === state);
  const isEnough = result === "acknowledged";
  const lines = [
    paint(isEnough ? "good" : "error", counts.join(", ")),
    ...(isGone ? ["  the nodes that it concerns have no stream any more"] : []),
    ...capped(of("rejected"), rejected, ({ id, message }) => paint("error", `  ${id} rejected it: ${message}`)),
    ...capped(of("pending"), pending, ({ id, message }) => `  ${id} has not answered${message ? `: ${message}` : ""}`),
  ];
  return lines.map((line) => `${line}\n`).join("") + servers.join("");
}

function capped(
  nodes: ArrivalJson["nodes"],
  count: number,
  line: (node: ArrivalJson["nodes"][number]) => string,
): readonly string[] {
  const lines = nodes
    .slice(0, maxListed)
    .map(({ id, message, ...node }) => line({ ...node, id: printable(id), message: printable(message) }));
  const more = Math.max(count, nodes.length) - lines.length;
  return more > 0 ? [...lines, `  … and ${more} more`] : lines;
}
