import { printable } from "@xdskit/api";
import type { SourceTrouble } from "@xdskit/server/status-client";
import { type Paint, plain } from "../colours.js";

/** A source whose newest content is not served, or a server that does not answer. */
export function troubleLine({ source, kind, message }: SourceTrouble, paint: Paint = plain): string {
  if (kind === "rolled-back")
    return paint("warning", `${printable(source)}: ${printable(message)}, until the source changes`);
  if (kind === "silent") {
    const missing = "nodes that only it has are missing here";
    return paint("error", `the server ${printable(source)} does not answer, ${missing}: ${printable(message)}`);
  }
  if (kind === "incomplete") return paint("error", printable(message));
  const served = kind === "partial" ? "is served without what has them" : "what was good last is served";
  const text = `${printable(source)} has errors, and ${served}: ${printable(message)}`;
  return paint("error", text);
}

/** Whether newer content is there than what is served. A rollback is somebody's decision: it serves all there is. */
export function isInTheWay({ kind }: SourceTrouble): boolean {
  return kind !== "rolled-back";
}
