import { areAll, type Categories, categoriesOf, isPairedPerRoute } from "../envoy-versions/extension-types.js";
import { refused, type SpecialProblem } from "./refused/problem.js";

/**
 * What is wrong with the type of an `Any` where an extension of these categories must stand. Other extensions may be
 * compiled into an Envoy, but those that each Envoy has stand in their own categories only. Envoy reads one that is
 * `loose`, empty or a TypedStruct, as the HTTP filter's message for that place, whatever it says that it is.
 */
export function slotProblem(categories: Categories, typeName: string, loose = false): SpecialProblem | undefined {
  if (categories.length === 0) return undefined;
  const wanted = (): string => categories.join(" or ");
  if (typeName === "") return refused([], `needs a type: an extension of ${wanted()} stands here`);
  const own = categoriesOf(typeName);
  if (own.some((one) => categories.includes(one))) return undefined;
  if (typeName.startsWith("google.protobuf."))
    return areAll(categories) ? refused([], `${typeName} is no extension: one of ${wanted()} stands here`) : undefined;
  if (own.length === 0) return undefined;
  const isOfHttp = categories.some((one) => one.startsWith("envoy.filters.http"));
  // Not every filter is there for the requests that Envoy sends.
  const isAbsent = categories.includes("envoy.filters.http.upstream") && own.includes("envoy.filters.http");
  if (isOfHttp && loose && !isAbsent && isPairedPerRoute(typeName)) return undefined;
  return refused([], `${typeName} is an extension of ${own.join(" and ")}: one of ${wanted()} stands here`);
}
