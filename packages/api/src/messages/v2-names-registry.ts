import type { Registry } from "@bufbuild/protobuf";
import { perRegistry } from "../registry/per-registry.js";
import { schemaOf } from "./any.js";

/** The registry, but the name of a v2 message finds its v3 successor: fields have the same names and numbers. */
export const withV2Names = perRegistry((registry): Registry => {
  return Object.create(registry, { getMessage: { value: (typeName: string) => schemaOf(typeName, registry) } });
});
