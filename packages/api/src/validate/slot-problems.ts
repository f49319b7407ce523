import { type Categories, categoriesOf } from "../envoy-versions/extension-types.js";
import { refused, type SpecialProblem } from "./refused/problem.js";

/**
 * What is wrong with the type of an `Any` where an extension of these categories must stand. Other extensions may be
 * compiled into an Envoy, but those that each Envoy has stand in their own categories only.
 */
export function slotProblem(categories: Categories, typeName: string): SpecialProblem | undefined {
  if (categories.length === 0) return undefined;
  const wanted = categories.join(" or ");
  if (typeName === "") return refused([], `needs a type: an extension of ${wanted} stands here`);
  // Extensions of several categories share protobuf's own messages.
  const own = typeName.startsWith("google.protobuf.") ? [] : categoriesOf(typeName);
  if (own.length === 0 || own.some((one) => categories.includes(one))) return undefined;
  return refused([], `${typeName} is an extension of ${own.join(" and ")}: one of ${wanted} stands here`);
}
