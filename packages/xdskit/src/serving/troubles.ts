import type { Trouble } from "@xdskit/admin";
import type { ServerEvent, Validity, XdsServer } from "@xdskit/server";
import { findingText } from "../output/failure.js";

const wanted: ReadonlySet<ServerEvent["kind"]> = new Set([
  "certificate-untimely",
  "certificates-refused",
  "certificates-renewed",
  "certificates-mended",
] as const);

/** The troubles with a server's certificates, from its last events. Follows them from the start. */
export function createTroubles(server: Pick<XdsServer, "on">): { now(): readonly Trouble[] } {
  let untimely: Trouble | undefined;
  let refused: Trouble | undefined;
  server.on(note, (kind) => wanted.has(kind));

  function note(event: ServerEvent): void {
    const since = Date.now();
    if (event.kind === "certificate-untimely") {
      const severity = event.state === "expires-soon" ? "warning" : "error";
      untimely = { kind: "certificate", severity, message: validityText(event), since };
    } else if (event.kind === "certificates-refused") {
      const message = event.findings.map(findingText).join("; ");
      refused = { kind: "certificate", severity: "error", message, since };
    } else if (event.kind === "certificates-renewed") {
      untimely = undefined;
      refused = undefined;
    } else if (event.kind === "certificates-mended") {
      refused = undefined;
    }
  }

  return { now: () => [untimely, refused].filter((one) => one !== undefined) };
}

function validityText({ state, file, notBefore, notAfter }: Validity): string {
  if (state === "not-yet-valid") return `${file} is not valid before ${notBefore.toISOString()}`;
  return `${file} ${state === "expired" ? "has been expired since" : "expires at"} ${notAfter.toISOString()}`;
}
