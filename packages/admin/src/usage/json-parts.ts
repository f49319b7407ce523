/** A mapping in JSON. */
export type Json = Readonly<Record<string, unknown>>;

export function record(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The virtual hosts inside a route configuration. */
export function hostsOf(route: Json): readonly Json[] {
  return list(route.virtual_hosts)
    .map(record)
    .filter((host) => host !== undefined);
}

/** The clusters that a virtual host's routes name. */
export function clustersOf(host: Json): readonly string[] {
  const found = new Set<string>();
  for (const route of list(host.routes)) {
    const action = record(record(route)?.route);
    if (typeof action?.cluster === "string") found.add(action.cluster);
    for (const weighted of list(record(action?.weighted_clusters)?.clusters)) {
      const name = record(weighted)?.name;
      if (typeof name === "string") found.add(name);
    }
  }
  return [...found];
}
