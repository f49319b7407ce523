import { authorityOf, type TypeUrl } from "@xdskit/api";
import type { IsOwnName } from "../contracts/parts/judge.js";

/**
 * `supplied`: v3 type URLs of types that are supplied on demand, so that a resource may come as soon as a client asks.
 * `authorities`: those that are served; undefined: any.
 */
export function createIsOwnName(
  supplied: ReadonlySet<TypeUrl>,
  authorities: ReadonlySet<string> | undefined,
): IsOwnName {
  return ({ type, name }) => {
    if (supplied.has(type)) return false;
    const authority = authorityOf(name);
    // If no authorities are set, a client may ask another server for names with an authority.
    return authority === undefined || authority === "" || authorities?.has(authority) === true;
  };
}
