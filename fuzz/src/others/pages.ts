import { setTimeout as sleep } from "node:timers/promises";

/** The attack of one who asks for the API's longest pages in a loop. */
export const pagesAttack = "long pages of the API";
const [nodes, clusters] = [1_000, 5_000];
/** The nodes of its server, as `xdskit bench` plays them: all clusters, and some endpoints. */
export const fleet = [
  ...["--ads", "--nodes", `${nodes}`, "--nodes-per-connection", "100", "--timeout", "5m", "--duration", "10m"],
  ...["--type", "cluster", "--type", `endpoint=${Array.from({ length: 50 }, (_, index) => `cluster-${index}`)}`],
];
const seconds = 20;

/** The content of its server, as files hold it: that of the other attacks, and as many clusters as nodes may have. */
export function largeConfig(): object[] {
  return Array.from({ length: clusters }, (_, index) => {
    const name = `cluster-${index}`;
    const address = { socket_address: { address: `10.0.${index >> 8}.${index & 255}`, port_value: 80 } };
    const cluster = {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name,
      type: "EDS",
      connect_timeout: "1s",
      eds_cluster_config: { eds_config: { ads: {} } },
    };
    const assignment = {
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    };
    return [cluster, assignment];
  }).flat();
}

/** Waits until all nodes are synced. */
export async function fleetSynced(admin: string): Promise<void> {
  for (let looks = 0; looks < 240; looks += 1) {
    const { states } = (await json(admin, "fleet/summary")) as { states: Readonly<Record<string, number>> };
    if (states.synced === nodes) return;
    await sleep(500);
  }
  throw new Error("the fleet was never synced");
}

/** Asks for one page after the other, as soon as the one before is there. */
export async function askPages(admin: string): Promise<string> {
  const { revisions } = (await json(admin, "revisions?limit=1")) as { revisions: readonly { id: string }[] };
  const revision = `revisions/${revisions[0]?.id}`;
  const pages = [
    ...["layers/folder/resources?limit=10000", "groups/all/resources?limit=2000", "nodes?limit=1000"],
    ...["nodes?state=rejected", `${revision}/stages`, `${revision}/arrival`, `${revision}?limit=10000`],
  ];
  let asked = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; asked += 1) {
    const page = pages[asked % pages.length] ?? "";
    const answer = await fetch(`http://${admin}/api/v1/${page}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) return `${page}: ${answer.status}`;
  }
  return `${asked} pages`;
}

async function json(admin: string, path: string): Promise<unknown> {
  return (await fetch(`http://${admin}/api/v1/${path}`)).json();
}
