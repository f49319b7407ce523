import type { Registry } from "@bufbuild/protobuf";
import { schemaOf } from "./any.js";

/** The registry, which for the name of a v2 message gives its v3 successor: fields have the same names and numbers. */
export function withV2Names(registry: Registry): Registry {
  return Object.create(registry, {
    getMessage: { value: (typeName: string) => schemaOf(typeName, registry) },
  }) as Registry;
}
