import type { ResourceName } from "./identifiers.js";
import { isFederated } from "./xdstp.js";

/** Envoy compares hosts without case, for ASCII letters only. */
export function asciiLowerCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;
}

/** The name `<route configuration>/<host>` with the host in small letters; federated names stay as they are. */
export function withSmallHost(name: ResourceName): ResourceName {
  if (isFederated(name)) return name;
  const host = name.lastIndexOf("/") + 1;
  return `${name.slice(0, host)}${asciiLowerCase(name.slice(host))}`;
}
