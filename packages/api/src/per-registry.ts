import type { Registry } from "@bufbuild/protobuf";

/** What is made of a registry once: when it is first asked for, and kept as long as it. */
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
