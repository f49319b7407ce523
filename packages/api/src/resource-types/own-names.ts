import type { Message } from "@bufbuild/protobuf";
import type { ResourceType } from "./resource-type.js";

/** For messages without a name field. In the state of the world such resources are wrapped, which says their names. */
export const nameless: ResourceType["nameOf"] = () => undefined;

/** Reads the name from a field, by its local name. */
export function textIn(field: string): ResourceType["nameOf"] {
  return (message) => {
    const value = (message as Message & { readonly [field: string]: unknown })[field];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
}
