import type { TypeSummary } from "@xdskit/server/status-client";

type Wait = TypeSummary["waits"][number];

/** How many names are said of several. */
const mostNamed = 3;

/** What is held back, and for what: `a, b wait for cluster one to be acknowledged`. */
export function waitText(wait: Wait): string {
  return `${some(wait.names)}: ${waitReason(wait)}`;
}

/** Why it is held back. */
export function waitReason({ kind, for: awaited }: Wait): string {
  const others = awaited === undefined ? "" : `${awaited.type} ${some(awaited.names)}`;
  switch (kind) {
    case "make":
      return `held back until ${others} is acknowledged`;
    case "break":
      return `stays until what takes the place of ${others} is acknowledged`;
    case "linger":
      return `stays for a while, since connections drain${others === "" ? "" : ` from ${others}`}`;
    case "named":
      return "stays until the client asks for it no longer";
  }
}

function some(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return more > 0 ? `${names.slice(0, mostNamed).join(", ")} and ${more} more` : names.join(", ");
}
