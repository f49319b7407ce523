import type { Registry } from "@bufbuild/protobuf";
import { schemaOf } from "./any.js";

const known = new WeakMap<Registry, Registry>();

/** The registry, which for the name of a v2 message gives its v3 successor: fields have the same names and numbers. */
export function withV2Names(registry: Registry): Registry {
  let made = known.get(registry);
  if (made === undefined) {
    made = Object.create(registry, {
      getMessage: { value: (typeName: string) => schemaOf(typeName, registry) },
    }) as Registry;
    known.set(registry, made);
  }
  return made;
}
