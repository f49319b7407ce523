import type { Registry } from "@bufbuild/protobuf";
import { schemaOf } from "./any.js";
import { perRegistry } from "./per-registry.js";

/** The registry, which for the name of a v2 message gives its v3 successor: fields have the same names and numbers. */
export const withV2Names = perRegistry((registry): Registry => {
  return Object.create(registry, { getMessage: { value: (typeName: string) => schemaOf(typeName, registry) } });
});
