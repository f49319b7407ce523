import type { Registry } from "@bufbuild/protobuf";

/** A value that is made once per registry, on first use, and lives as long as the registry. */
export function perRegistry<Made extends object>(make: (registry: Registry) => Made): (registry: Registry) => Made {
  const known = new WeakMap<Registry, Made>();
  return (registry) => {
    let made = known.get(registry);
    if (made === undefined) {
      made = make(registry);
      known.set(registry, made);
    }
    return made;
  };
}
