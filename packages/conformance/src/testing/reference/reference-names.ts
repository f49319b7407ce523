import type { Mistake } from "./mistakes.js";
import type { ReferenceResource } from "./reference-state.js";

const scheme = "xdstp://";

/** A name as it is compared: the context parameters of a federated one in order. */
export function comparedName(name: string, mistakes: ReadonlySet<Mistake>): string {
  const [path = "", parameters] = name.split("?");
  if (!name.startsWith(scheme) || parameters === undefined || mistakes.has("order-matters")) return name;
  return `${path}?${parameters.split("&").sort().join("&")}`;
}

/** The names by which a resource can be asked for, as they are compared. */
export function namesOf(
  { name, aliases }: Pick<ReferenceResource, "name" | "aliases">,
  mistakes: ReadonlySet<Mistake>,
): readonly string[] {
  if (name.startsWith(scheme) && mistakes.has("no-federation")) return [];
  const known = mistakes.has("alias-unknown") ? [] : aliases;
  const glob = name.startsWith(scheme) && !mistakes.has("glob-is-a-name") ? [name.replace(/[^/]+$/, "*")] : [];
  return [name, ...known, ...glob].map((one) => comparedName(one, mistakes));
}
