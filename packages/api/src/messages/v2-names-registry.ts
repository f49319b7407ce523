import type { Registry } from "@bufbuild/protobuf";
import { perObject } from "../names/per-object.js";
import { schemaOf } from "./v2-names.js";

/** The registry, but the name of a v2 message finds its v3 successor: fields have the same names and numbers. */
export const withV2Names = perObject((registry: Registry): Registry => {
  return Object.create(registry, { getMessage: { value: (typeName: string) => schemaOf(typeName, registry) } });
});
