/** Reads an Envoy's admin interface. */
export interface EnvoyAdmin {
  /** Counters and gauges whose names match, by name. */
  stats(filter?: string): Promise<ReadonlyMap<string, number>>;
  /** One counter or gauge; 0 when it is not there yet. */
  stat(name: string): Promise<number>;
  /** All active dynamic clusters as Envoy was given them, by name. */
  activeClusters(): Promise<ReadonlyMap<string, DynamicResource>>;
  /** The clusters of the bootstrap as Envoy was given them, by name. */
  staticClusters(): Promise<ReadonlyMap<string, DynamicResource>>;
  /** All dynamic listeners in service, by name. */
  activeListeners(): Promise<ReadonlyMap<string, DynamicResource>>;
  /** The route configurations in use, by name. */
  routes(): Promise<ReadonlyMap<string, DynamicResource>>;
  /** `ip:port` of the endpoints by cluster. */
  endpoints(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** The final values of all runtime keys. */
  runtime(): Promise<ReadonlyMap<string, string>>;
  /** Everything that it runs on, as `/config_dump?include_eds` says it. */
  configDump(): Promise<string>;
  /** True once all initial fetches are over. */
  isLive(): Promise<boolean>;
}

/** A resource in Envoy's configuration dump. */
export interface DynamicResource {
  readonly version: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface Dump {
  readonly configs?: readonly Record<string, unknown>[];
}

/** `address` is `host:port` of the admin listener. */
export function createEnvoyAdmin(address: string): EnvoyAdmin {
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(20_000) });
    if (!response.ok && response.status !== 503) throw new Error(`admin ${path}: status ${response.status}`);
    return response;
  };
  const dump = async (resource: string): Promise<readonly Record<string, unknown>[]> =>
    ((await (await get(`/config_dump?resource=${resource}`)).json()) as Dump).configs ?? [];

  const admin: EnvoyAdmin = {
    async stats(filter) {
      const query = filter === undefined ? "" : `&filter=${encodeURIComponent(filter)}`;
      const body = (await (await get(`/stats?format=json${query}`)).json()) as {
        stats: readonly { name?: string; value?: number }[];
      };
      const found = new Map<string, number>();
      for (const { name, value } of body.stats) {
        if (name !== undefined && typeof value === "number") found.set(name, value);
      }
      return found;
    },
    async stat(name) {
      return (await admin.stats(`^${name.replaceAll(".", "\\.")}$`)).get(name) ?? 0;
    },
    activeClusters: async () => byName(await dump("dynamic_active_clusters"), "cluster"),
    staticClusters: async () => byName(await dump("static_clusters"), "cluster"),
    activeListeners: async () =>
      byName(
        (await dump("dynamic_listeners")).flatMap((entry) =>
          entry.active_state === undefined ? [] : [entry.active_state as Record<string, unknown>],
        ),
        "listener",
      ),
    routes: async () => byName(await dump("dynamic_route_configs"), "route_config"),
    async endpoints() {
      const body = (await (await get("/clusters?format=json")).json()) as {
        cluster_statuses?: readonly {
          name: string;
          host_statuses?: readonly { address?: { socket_address?: { address?: string; port_value?: number } } }[];
        }[];
      };
      return new Map(
        (body.cluster_statuses ?? []).map((status) => [
          status.name,
          (status.host_statuses ?? [])
            .map((host) => `${host.address?.socket_address?.address}:${host.address?.socket_address?.port_value}`)
            .sort(),
        ]),
      );
    },
    async runtime() {
      const body = (await (await get("/runtime")).json()) as { entries: Record<string, { final_value: string }> };
      return new Map(Object.entries(body.entries).map(([key, { final_value }]) => [key, final_value]));
    },
    configDump: async () => (await get("/config_dump?include_eds")).text(),
    isLive: async () => (await (await get("/ready")).text()).trim() === "LIVE",
  };
  return admin;
}

function byName(
  entries: readonly Record<string, unknown>[],
  field: "cluster" | "listener" | "route_config",
): ReadonlyMap<string, DynamicResource> {
  const found = new Map<string, DynamicResource>();
  for (const entry of entries) {
    const resource = entry[field] as Record<string, unknown> | undefined;
    if (resource !== undefined) found.set(String(resource.name), { version: String(entry.version_info), resource });
  }
  return found;
}
