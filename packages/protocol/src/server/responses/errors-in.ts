import type { Resource, ResourceName } from "@xdskit/api";
import { nameOf } from "../../model/names/locator.js";
import { calledName } from "../../model/sets/variant-index.js";
import { statusCode } from "../../wire/basics/status-code.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import { foreignAuthority } from "../requests/foreign-authorities.js";
import { find } from "../state/find.js";
import type { ResponseNeed } from "./content.js";

/**
 * Whether the client keeps its resource: true for all errors except those that say that there is nothing for it (xRFC
 * TP3).
 */
export function isPassing({ code }: ResourceError): boolean {
  return code !== statusCode.notFound && code !== statusCode.permissionDenied;
}

/**
 * The errors of a response, one for each name: names that must be answered and are absent, and names whose resource
 * goes. In delta, `removed_resources` says that there is none; an error is added only if it says more.
 */
export function errorsIn(need: ResponseNeed, gone: readonly Resource[]): readonly ResourceError[] {
  const { errors, subscription, current, pending, sotwOrDelta } = need;
  if (errors === undefined) return none;
  const found = new Map<ResourceName, ResourceError>();
  const names = new Set(pending);
  for (const resource of gone) for (const name of subscription.names.spelled(calledName(resource))) names.add(name);
  for (const locator of names) {
    const name = nameOf(locator);
    if (found.has(name) || find(current, locator).length > 0) continue;
    const error = errors.known.get(name) ?? foreign(name, errors.authorities);
    if (error !== undefined) found.set(name, error);
    else if (sotwOrDelta === "sotw")
      found.set(name, { name, code: statusCode.notFound, message: `there is no ${current.type.name} of this name` });
  }
  return found.size === 0 ? none : [...found.values()];
}

const none: readonly ResourceError[] = [];

function foreign(name: ResourceName, authorities: ReadonlySet<string> | undefined): ResourceError | undefined {
  const authority = foreignAuthority(name, authorities);
  if (authority === undefined) return undefined;
  return {
    name,
    code: statusCode.notFound,
    message: `this server does not answer for the authority ${JSON.stringify(authority)}`,
  };
}
