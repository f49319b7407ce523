import { authorityOf, type ResourceName } from "@xdskit/api";
import { nameOf } from "../locator.js";

/** The authority of a name of federation, if it is none of those that are served. No authority is the server that is asked. */
export function foreignAuthority(name: ResourceName, authorities: ReadonlySet<string> | undefined): string | undefined {
  if (authorities === undefined) return undefined;
  const authority = authorityOf(nameOf(name));
  return authority === undefined || authority === "" || authorities.has(authority) ? undefined : authority;
}

/** Authorities that are noted of a stream. */
const most = 8;

/** Of a stream of which none was noted yet. */
export const noForeign: ReadonlySet<string> = new Set();

/** The authorities noted of a stream, and those that these names add. */
export function withForeign(
  noted: ReadonlySet<string>,
  names: Iterable<ResourceName>,
  authorities: ReadonlySet<string> | undefined,
): ReadonlySet<string> {
  if (authorities === undefined || noted.size >= most) return noted;
  const all = new Set(noted);
  for (const name of names) {
    const authority = foreignAuthority(name, authorities);
    if (authority !== undefined && all.size < most) all.add(authority);
  }
  return all.size === noted.size ? noted : all;
}
