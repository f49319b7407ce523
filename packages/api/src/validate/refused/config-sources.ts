import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { isFederated } from "../../names/xdstp.js";
import type { SpecialProblem } from "./problem.js";
import { none, refused } from "./problem.js";

/** A message that Envoy refuses without a source of configuration. A name with `xdstp:` in front has its own. */
export function needsSource(field: string, nameField?: string): (message: object) => readonly SpecialProblem[] {
  const [source, named] = [field, nameField ?? ""].map(protoCamelCase) as [string, string];
  return (message) => {
    const fields = message as { readonly [name: string]: unknown };
    const name = nameField === undefined ? undefined : fields[named];
    if (fields[source] !== undefined || (typeof name === "string" && isFederated(name))) return none;
    return [refused([field], "must be set: it says where the configuration comes from, such as { ads: {} }")];
  };
}
