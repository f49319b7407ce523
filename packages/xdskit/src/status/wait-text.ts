import { listNames } from "@xdskit/api";
import type { TypeSummary } from "@xdskit/server/status-client";
import type { TypeView } from "./client-view.js";

type Wait = TypeSummary["waits"][number];

/** How many of several names are shown. */
const mostNamed = 3;

/**
 * The resources that are held back, and the reason: `a, b: held back until cluster one is acknowledged`. `types`: all
 * types of the client.
 */
export function waitText(wait: Wait, types: readonly TypeView[]): string {
  return `${listNames(wait.names, mostNamed)}: ${waitReason(wait, types)}`;
}

/** Why it is held back. */
export function waitReason({ kind, for: awaited }: Wait, types: readonly TypeView[]): string {
  const others = awaited === undefined ? "" : `${awaited.type} ${listNames(awaited.names, mostNamed)}`;
  switch (kind) {
    case "make":
      return `held back until ${others} is acknowledged${rejectedOf(awaited, types)}`;
    case "break":
      return `stays until the change or removal of ${others} is acknowledged${rejectedOf(awaited, types)}`;
    case "linger":
      return `stays for a while, since connections drain${others === "" ? "" : ` from ${others}`}`;
    case "named":
      return "stays until the client asks for it no longer";
  }
}

/** A rejected resource that others wait for holds them back until it is fixed. */
function rejectedOf(awaited: Wait["for"], types: readonly TypeView[]): string {
  const resources = types.find(({ type }) => type === awaited?.type)?.resources ?? [];
  const rejected = new Set(resources.filter(({ state }) => state === "rejected").map(({ name }) => name));
  const names = awaited?.names.filter((name) => rejected.has(name)) ?? [];
  return names.length === 0 ? "" : `; the client rejected ${listNames(names, mostNamed)}`;
}
