import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResourceText } from "../basics/config-folder.js";
import { typeUrl } from "../basics/resources.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { createEnvoyAdmin } from "./envoy-admin.js";

/** What Envoy is asked about. Each resource has a name of its own. */
export interface Questions {
  readonly clusters: readonly ResourceText[];
  readonly listeners: readonly ResourceText[];
  /** Load assignments; a cluster is made for each. */
  readonly assignments: readonly ResourceText[];
}

/**
 * Asks one Envoy about many resources at once, and returns the names of those that it refuses. It reads them from
 * files, as it reads those of a management server: what one is refused for says nothing of the others.
 */
export async function refusedByEnvoy(scene: Scene, path: string, questions: Questions): Promise<ReadonlySet<string>> {
  const file = (name: string) => join(scene.directory, name);
  const source = (name: string) => ({ path_config_source: { path: file(name) }, resource_api_version: "V3" });
  const write = (name: string, content: unknown) => writeFile(file(name), JSON.stringify(content));
  const assigned: ResourceText[] = [];
  for (const [index, assignment] of questions.assignments.entries()) {
    const name = String(assignment.cluster_name);
    await write(`eds-${index}.json`, { resources: [assignment] });
    assigned.push({
      "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
      name,
      type: "EDS",
      eds_cluster_config: { eds_config: source(`eds-${index}.json`) },
    });
  }
  await write("cds.json", { resources: [...questions.clusters, ...assigned] });
  await write("lds.json", { resources: questions.listeners });
  await write("envoy.json", {
    node: { id: "asked", cluster: "e2e" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    dynamic_resources: { cds_config: source("cds.json"), lds_config: source("lds.json") },
    bootstrap_extensions: [
      {
        name: "envoy.bootstrap.internal_listener",
        typed_config: { "@type": typeUrl("envoy.extensions.bootstrap.internal_listener.v3.InternalListener") },
      },
    ],
  });
  const options = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning"];
  const envoy = scene.start({
    name: "envoy",
    command: path,
    args: ["--config-path", file("envoy.json"), "--admin-address-path", file("admin"), ...options],
  });
  const address = await eventually("Envoy's admin address", async () => {
    if (!envoy.isRunning()) throw new Error("Envoy ended");
    return (await readFile(file("admin"), "utf8")) || false;
  });
  const admin = createEnvoyAdmin(address);
  return await eventually("an answer about each", () => verdicts(admin, envoy.stderr, questions), { withinMs: 30_000 });
}

/**
 * False while something is not decided. There has to be something that it refuses among clusters and among listeners.
 */
async function verdicts(
  admin: ReturnType<typeof createEnvoyAdmin>,
  log: readonly string[],
  { clusters, listeners, assignments }: Questions,
): Promise<ReadonlySet<string> | false> {
  const stats = await admin.stats("update_(success|rejected)$");
  const decided = (prefix: string) =>
    (stats.get(`${prefix}.update_success`) ?? 0) + (stats.get(`${prefix}.update_rejected`) ?? 0) > 0;
  const names = assignments.map(({ cluster_name }) => String(cluster_name));
  if (!["cluster_manager.cds", "listener_manager.lds", ...names.map((name) => `cluster.${name}`)].every(decided)) {
    return false;
  }
  const text = log.join("\n");
  // What it said of each comes before what it says of all.
  if (!["cluster(s)", "listener(s)"].every((kind) => text.includes(`Error adding/updating ${kind}`))) return false;
  const refused = new Set(names.filter((name) => (stats.get(`cluster.${name}.update_rejected`) ?? 0) > 0));
  for (const { name } of clusters) if (text.includes(` ${name}: `)) refused.add(String(name));
  for (const { name } of listeners)
    if (text.includes(`listener '${name}' config rejected: `)) refused.add(String(name));
  return refused;
}
