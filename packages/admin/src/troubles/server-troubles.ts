import { findingText } from "@xdskit/api";
import type { ServerEvent, Validity, XdsServer } from "@xdskit/server";
import type { Trouble } from "../contract/admin-options.js";
import { ClientTroubles } from "./client-troubles.js";

const wanted: ReadonlySet<ServerEvent["kind"]> = new Set([
  "certificate-untimely",
  "certificates-refused",
  "certificates-renewed",
  "certificates-mended",
  "handshake-failed",
  "large-response-unanswered",
  "stream-refused",
] as const);

/** The troubles with a server's certificates and clients, from its last events. Follows them from the start. */
export function createTroubles(server: Pick<XdsServer, "on">): { now(): readonly Trouble[] } {
  let untimely: Trouble | undefined;
  let list: Trouble | undefined;
  let refused: Trouble | undefined;
  const clients = new ClientTroubles();
  server.on(note, (kind) => wanted.has(kind));

  function note(event: ServerEvent): void {
    const since = Date.now();
    if (event.kind === "certificate-untimely") {
      const isList = event.state === "list-expired";
      const severity = isList || event.state === "expires-soon" ? "warning" : "error";
      const expires = event.notAfter.getTime();
      const title = validityTitles[event.state];
      const trouble = { kind: "certificate", severity, title, message: validityText(event), since, expires } as const;
      if (isList) list = trouble;
      else untimely = trouble;
    } else if (event.kind === "certificates-refused") {
      const message = event.findings.map(findingText).join("; ");
      const title = "The server's new certificate cannot be used";
      refused = { kind: "certificate", severity: "error", title, message, since };
    } else if (event.kind === "certificates-renewed") {
      untimely = undefined;
      list = undefined;
      refused = undefined;
    } else if (event.kind === "certificates-mended") {
      refused = undefined;
    } else clients.note(event, since);
  }

  return { now: () => [...[untimely, list, refused].filter((one) => one !== undefined), ...clients.now(Date.now())] };
}

const validityTitles: Readonly<Record<Validity["state"], string>> = {
  expired: "The server's certificate has expired",
  "not-yet-valid": "The server's certificate is not valid yet",
  "expires-soon": "The server's certificate expires soon",
  "list-expired": "The list of revoked certificates has expired",
};

function validityText({ state, file, notBefore, notAfter }: Validity): string {
  if (state === "not-yet-valid") return `${file} is not valid before ${notBefore.toISOString()}`;
  return `${file} ${state !== "expires-soon" ? "has been expired since" : "expires at"} ${notAfter.toISOString()}`;
}
