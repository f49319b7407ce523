import { type Finding, redactErrorText } from "@xdskit/api";
import { type ServerEvent, serviceName, type XdsServer } from "@xdskit/server";
import { maxInEntry } from "../contract/limits.js";
import type { EventRing } from "./event-ring.js";

const wanted: ReadonlySet<ServerEvent["kind"]> = new Set([
  "stream-opened",
  "stream-closed",
  "stream-refused",
  "rejected",
  "configuration-refused",
  "rollout",
  "quarantine",
] as const);

/** Puts the events of a server into a ring; returns a function that ends it. */
export function gatherEvents(server: Pick<XdsServer, "on">, ring: EventRing): () => void {
  return server.on(
    (event) => note(event, ring),
    (kind) => wanted.has(kind),
  );
}

function note(event: ServerEvent, ring: EventRing): void {
  switch (event.kind) {
    case "stream-opened":
    case "stream-closed": {
      const { id, node, group, method, peer } = event.stream;
      const state = event.kind === "stream-opened" ? "connected" : "disconnected";
      ring.add("node", { node: node.id, group, state, stream: id, service: serviceName(method), peer });
      break;
    }
    case "stream-refused":
      ring.add("problem", {
        kind: "refused",
        node: event.node?.id ?? null,
        peer: event.stream.peer,
        message: event.message,
      });
      break;
    case "rejected": {
      const { stream, type, version, message, names } = event;
      const about = { node: stream.node.id, group: stream.group, type: type.name, version };
      ring.add("problem", {
        kind: "rejected",
        ...about,
        names: names.slice(0, maxInEntry),
        message: redactErrorText(message),
      });
      break;
    }
    case "configuration-refused":
      ring.add("problem", { kind: "change-refused", source: event.source, findings: few(event.findings) });
      break;
    case "rollout": {
      const { id, group, state, reason, step, steps, nodes } = event.rollout;
      ring.add("rollout", { outcome: event.outcome, id, group, state, reason, step, steps: steps.length, nodes });
      break;
    }
    case "quarantine": {
      const { outcome, group, count } = event;
      ring.add("problem", { kind: "quarantine", outcome, group, count });
      break;
    }
  }
}

function few(findings: readonly Finding[]): readonly Finding[] {
  return findings.slice(0, maxInEntry);
}
