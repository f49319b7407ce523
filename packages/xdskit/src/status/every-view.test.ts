import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Client, type ClientDuplexStream, credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";
import { parseAddress } from "@xdskit/server/address";
import { createStatusClient, type NodeRevision } from "@xdskit/server/status-client";
import { eventually } from "../testing/command.js";
import { clusterYaml, routesYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";
import { revisionsText } from "../top/node-table.js";

const settings = `groups:
  - name: edge
    match: { id: "edge-*" }
    folders: [edge]
    rollout: { steps: [{ match: { id: edge-first } }] }
  - name: rest
    match: { id: "n-*" }
    folders: [rest]
`;
const urls = {
  cluster: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  route: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
} as const;
type Type = keyof typeof urls;

/** An ADS stream of state of the world whose client answers only when it is told to. */
class Node implements Disposable {
  readonly id: string;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly #responses = new Map<string, { readonly nonce: string; readonly versionInfo: string }>();
  readonly #counts = new Map<string, number>();
  readonly ended: Promise<number>;

  constructor(server: Served, id: string) {
    this.id = id;
    const asIs = (bytes: Buffer) => bytes;
    const bytes = {
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
    const method = { Stream: { path, requestStream: true, responseStream: true, ...bytes } };
    const client = new (makeGenericClientConstructor(method, "ads"))(server.grpc, credentials.createInsecure());
    this.#client = client;
    this.#stream = client.Stream?.() as ClientDuplexStream<Buffer, Buffer>;
    this.ended = new Promise((resolve) =>
      this.#stream.on("error", ({ code }: Error & { code: number }) => resolve(code)),
    );
    this.#stream.on("data", (message: Buffer) => {
      const { typeUrl, nonce, versionInfo } = fromBinary(DiscoveryResponseSchema, message);
      this.#responses.set(typeUrl, { nonce, versionInfo });
      this.#counts.set(typeUrl, (this.#counts.get(typeUrl) ?? 0) + 1);
    });
  }

  ask(type: Type, names: readonly string[] = []): void {
    this.#send(type, { resourceNames: [...names] });
  }

  /** Waits for so many responses. */
  async got(type: Type, count: number): Promise<void> {
    await eventually(
      async () => this.#counts.get(urls[type]) ?? 0,
      (found) => found >= count,
    );
  }

  /** Answers the last response. */
  answer(type: Type, error = "", resourceNames: string[] = []): void {
    const { nonce = "", versionInfo = "" } = this.#responses.get(urls[type]) ?? {};
    const rejects = { errorDetail: { code: 13, message: error, details: [] } };
    this.#send(type, { resourceNames, responseNonce: nonce, versionInfo, ...(error === "" ? {} : rejects) });
  }

  #send(type: Type, request: object): void {
    const message = create(DiscoveryRequestSchema, { node: { id: this.id }, typeUrl: urls[type], ...request });
    this.#stream.write(Buffer.from(toBinary(DiscoveryRequestSchema, message)));
  }

  [Symbol.dispose](): void {
    this.#stream.cancel();
    this.#client.close();
  }
}

/** A node as a view shows it; `why`: by type, where it says it. */
interface Shown {
  readonly state: string;
  readonly why: string;
  readonly types: Readonly<Record<string, readonly [state: string, why: string]>>;
}
type Nodes = Readonly<Record<string, Shown>>;

interface TypeJson {
  readonly type: string;
  readonly state: string;
  readonly why: string;
}
interface NodeJson {
  readonly id: string;
  readonly state: string;
  readonly why: string;
  readonly revisions?: readonly NodeRevision[];
  readonly types: readonly TypeJson[];
  readonly streams: readonly { readonly types: readonly TypeJson[] }[];
}

const byId = <T>(nodes: readonly NodeJson[], of: (node: NodeJson) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(nodes.map((node) => [node.id, of(node)] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
const shown = ({ state, why }: NodeJson, types: readonly TypeJson[]): Shown => ({
  state,
  why,
  types: Object.fromEntries(types.map((one) => [one.type, [one.state, one.why]])),
});
const statesOf = (nodes: Nodes) => Object.fromEntries(Object.entries(nodes).map(([id, { state }]) => [id, state]));

async function nodesJson(server: Served, path: string): Promise<readonly NodeJson[]> {
  return ((await server.ask(path)) as { readonly nodes: readonly NodeJson[] }).nodes;
}

/** What the words of the proto say of each type of a node, in our order of states. */
async function csds(server: Served): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  const client = createStatusClient(parseAddress(server.grpc) ?? assert.fail());
  const order = [ConfigStatus.SYNCED, ConfigStatus.NOT_SENT, ConfigStatus.STALE, ConfigStatus.ERROR];
  try {
    const configs = await client.ask({ nodes: [], timeoutMs: 10_000 });
    const found = configs.map(({ node, genericXdsConfigs }) => {
      const types = new Map<string, ConfigStatus>();
      for (const { typeUrl, name, configStatus } of genericXdsConfigs) {
        const known = types.get(typeUrl) ?? ConfigStatus.SYNCED;
        const isWorse = order.indexOf(configStatus) > order.indexOf(known);
        if (name === "") types.set(typeUrl, isWorse ? configStatus : known);
      }
      const names = Object.entries(urls).flatMap(([type, url]) => {
        const worst = types.get(url);
        return worst === undefined ? [] : [[type, ConfigStatus[worst]]];
      });
      return [node?.id ?? "", Object.fromEntries(names)];
    });
    return Object.fromEntries(found);
  } finally {
    client.close();
  }
}

/** Each view has these nodes, with the same states and the same words. */
async function everyViewShows(server: Served, nodes: Nodes): Promise<void> {
  const all = await nodesJson(server, "/api/v1/nodes");
  assert.deepEqual(
    byId(all, (node) =>
      shown(
        node,
        node.streams.flatMap(({ types }) => types),
      ),
    ),
    nodes,
    "/api/v1/nodes",
  );
  const rows = await nodesJson(server, "/api/v1/fleet/nodes");
  assert.deepEqual(
    byId(rows, (node) => shown(node, node.types)),
    nodes,
    "/api/v1/fleet/nodes",
  );
  const counts = { synced: 0, "held-back": 0, pending: 0, stale: 0, rejected: 0 };
  for (const { state } of Object.values(nodes)) counts[state as keyof typeof counts] += 1;
  for (const state of Object.keys(counts)) {
    const wanted = Object.keys(nodes).filter((id) => nodes[id]?.state === state);
    for (const path of ["/api/v1/nodes", "/api/v1/fleet/nodes"]) {
      const found = await nodesJson(server, `${path}?state=${state}`);
      assert.deepEqual(Object.keys(byId(found, () => 0)), wanted, `${path} ${state}`);
    }
  }
  const summary = (await server.ask("/api/v1/fleet/summary")) as { readonly states: object };
  assert.deepEqual(summary.states, counts, "/api/v1/fleet/summary");

  const metrics = await (await fetch(`${server.admin}/metrics`)).text();
  for (const [state, count] of Object.entries(counts))
    assert.ok(metrics.includes(`xdskit_nodes_by_state{state="${state}"} ${count}\n`), `metrics: ${state} ${count}`);

  const overHttp = JSON.parse((await server.run("status", "--json")).out) as { readonly nodes: readonly NodeJson[] };
  assert.deepEqual(
    byId(overHttp.nodes, (node) => shown(node, node.types)),
    nodes,
    "status of a URL",
  );
  const { out } = await inProcessEnds("status", "--server", server.grpc, "--json");
  const overGrpc = JSON.parse(out) as { readonly nodes: readonly NodeJson[] };
  assert.deepEqual(
    byId(overGrpc.nodes, (node) => shown(node, node.types)),
    nodes,
    "status of a gRPC address",
  );
  await everyViewTellsRevisions(server, {
    "status of a URL": overHttp.nodes,
    "status of a gRPC address": overGrpc.nodes,
  });

  const texts = {
    top: (await server.run("top", "--count", "1")).out,
    "status of a URL": (await server.run("status", "--all")).out,
    "status of a gRPC address": (await inProcessEnds("status", "--server", server.grpc, "--all")).out,
  };
  const total = Object.entries(counts).toReversed();
  const line = `${Object.keys(nodes).length} nodes: ${total.map(([state, count]) => `${count} ${state}`).join(", ")}`;
  for (const [view, text] of Object.entries(texts)) {
    assert.ok(text.startsWith(line), `${view}: ${text}`);
    for (const [id, { state, why }] of Object.entries(nodes)) {
      const row = text.split("\n").find((one) => one.startsWith(`${id} `)) ?? "";
      assert.deepEqual([row.split(/ +/)[1], row.endsWith(why)], [state, true], `${view}: ${row}`);
    }
  }
  for (const at of [server.admin, server.grpc]) {
    const { out: text } = await inProcessEnds("status", "--server", at);
    assert.ok(text.startsWith(line), text);
    const listed = text.split("\n").flatMap((one) => Object.keys(nodes).filter((id) => one.startsWith(`${id} `)));
    const order = (id: string) => Object.keys(counts).indexOf(nodes[id]?.state ?? "");
    const bad = Object.keys(nodes).filter((id) => nodes[id]?.state !== "synced");
    assert.deepEqual(listed.toSorted(), bad.toSorted(), "only what is not synced");
    assert.deepEqual(listed.map(order), listed.map(order).toSorted().toReversed(), "the worst first");
  }
}

/** Which revisions the nodes run is one answer, too. */
async function everyViewTellsRevisions(server: Served, views: Readonly<Record<string, readonly NodeJson[]>>) {
  const nodes = await nodesJson(server, "/api/v1/fleet/nodes?revisions=true");
  const revisions = byId(nodes, (node) => node.revisions);
  for (const [id, found] of Object.entries(revisions)) assert.ok(found !== undefined && found.length > 0, id);
  const { worst } = JSON.parse((await server.run("top", "--count", "1", "--output", "json")).out);
  const each = Object.keys(revisions).map((id) => server.ask(`/api/v1/nodes/${id}/summary`));
  const all = { ...views, top: worst, "the page of a node": (await Promise.all(each)) as NodeJson[] };
  for (const [view, of] of Object.entries(all))
    assert.deepEqual(
      byId(of, (node) => node.revisions),
      revisions,
      view,
    );
  const texts = {
    top: (await server.run("top", "--count", "1")).out,
    "status of a URL": (await server.run("status", "--all")).out,
    "status of a gRPC address": (await inProcessEnds("status", "--server", server.grpc, "--all")).out,
  };
  for (const [view, text] of Object.entries(texts))
    for (const [id, found = []] of Object.entries(revisions)) {
      const row = text.split("\n").find((one) => one.startsWith(`${id} `)) ?? "";
      assert.ok(row.includes(` ${revisionsText(found)} `), `${view}: ${row}`);
    }
  for (const [id, found = []] of Object.entries(revisions)) {
    const { out } = await inProcessEnds("status", id, "--server", server.grpc);
    assert.ok(out.split("\n")[0]?.includes(`runs ${revisionsText(found)})`), out);
    const withoutAges = (text: string) => text.replaceAll(/(?:,? \d+s ago)/g, "");
    const overHttp = await server.run("status", id);
    assert.equal(withoutAges(overHttp.out), withoutAges(out), "status NODE of a URL");
  }
}

/** Lets the processes' clock show a later time. */
function laterBy(t: TestContext, ms: number): void {
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + ms);
}

const synced = ["synced", ""] as const;

describe("the state of a node", () => {
  it("is the same, in the same words, in every view", async (t) => {
    const routeFile = (cluster: string) => routesYaml(cluster);
    await using server = await served({
      "edge/a.yaml": clusterYaml("a"),
      "rest/a.yaml": clusterYaml("a"),
      "rest/routes.yaml": routeFile("a"),
      "xdskit.yaml": settings,
    });
    using first = new Node(server, "edge-first");
    using held = new Node(server, "edge-held");
    using good = new Node(server, "n-good");
    using mute = new Node(server, "n-mute");
    using picky = new Node(server, "n-picky");
    using waiting = new Node(server, "n-waiting");
    using wishing = new Node(server, "n-wishing");
    using foreign = new Node(server, "foreign");
    const all = [first, held, good, mute, picky, waiting];
    for (const node of all) node.ask("cluster");
    wishing.ask("cluster", ["a", "nobody"]);
    waiting.ask("route", ["routes"]);
    foreign.ask("cluster");
    for (const node of [...all, wishing]) await node.got("cluster", 1);
    await waiting.got("route", 1);
    assert.equal(await foreign.ended, 7);
    for (const node of all) node.answer("cluster");
    wishing.answer("cluster", "", ["a", "nobody"]);
    waiting.answer("route", "", ["routes"]);
    const fine = (...types: readonly Type[]): Shown => ({
      state: "synced",
      why: "",
      types: Object.fromEntries(types.map((type) => [type, synced])),
    });
    const before = {
      "edge-first": fine("cluster"),
      "edge-held": fine("cluster"),
      "n-good": fine("cluster"),
      "n-mute": fine("cluster"),
      "n-picky": fine("cluster"),
      "n-waiting": fine("cluster", "route"),
      "n-wishing": fine("cluster"),
    };
    const states = async () =>
      statesOf(byId(await nodesJson(server, "/api/v1/fleet/nodes"), (node) => shown(node, [])));
    await eventually(states, (found) => JSON.stringify(found) === JSON.stringify(statesOf(before)));
    await everyViewShows(server, before);

    // `b` comes with the route that names it; `n-good` answers, `n-picky` rejects, the others say nothing.
    await server.folder.write("rest/b.yaml", clusterYaml("b"));
    for (const node of [good, mute, picky, waiting]) await node.got("cluster", 2);
    await server.folder.write("rest/routes.yaml", routeFile("b"));
    await server.folder.write("edge/a.yaml", clusterYaml("a", "2s"));
    await first.got("cluster", 2);
    good.answer("cluster");
    first.answer("cluster");
    picky.answer("cluster", "no, I will not");
    const silence = "waits for its ACK";
    const wait = "routes: waits until cluster b is acknowledged";
    const heldBack = "1 resource held back by the rollout of edge at step 1 of 1";
    const one = (state: string, why: string): Shown => ({
      state,
      why: `cluster: ${why}`,
      types: { cluster: [state, why] },
    });
    const after: Nodes = {
      "edge-first": fine("cluster"),
      "edge-held": one("held-back", heldBack),
      "n-good": fine("cluster"),
      "n-mute": one("pending", silence),
      "n-picky": one("rejected", "no, I will not"),
      "n-waiting": {
        state: "pending",
        why: `cluster: ${silence}`,
        types: { cluster: ["pending", silence], route: ["pending", wait] },
      },
      "n-wishing": fine("cluster"),
    };
    await eventually(
      () => nodesJson(server, "/api/v1/nodes?state=pending"),
      (found) =>
        found.some(({ streams }) => streams.some(({ types }) => types.some(({ why }) => why === wait))) &&
        found.length === 2,
    );
    await eventually(states, (found) => JSON.stringify(found) === JSON.stringify(statesOf(after)));
    await everyViewShows(server, after);
    assert.deepEqual(await csds(server), {
      "edge-first": { cluster: "SYNCED" },
      "edge-held": { cluster: "SYNCED" },
      "n-good": { cluster: "SYNCED" },
      "n-mute": { cluster: "STALE" },
      "n-picky": { cluster: "ERROR" },
      "n-waiting": { cluster: "STALE", route: "NOT_SENT" },
      "n-wishing": { cluster: "SYNCED" },
    });

    // Who says nothing for 15 s is stale; what only waits for it is not.
    laterBy(t, 16_000);
    const later: Nodes = {
      ...after,
      "n-mute": one("stale", `silent: ${silence}`),
      "n-waiting": {
        state: "stale",
        why: `cluster: silent: ${silence}`,
        types: { cluster: ["stale", `silent: ${silence}`], route: ["pending", wait] },
      },
    };
    await everyViewShows(server, later);
    const { problems } = (await server.ask("/api/v1/problems")) as {
      problems: { kind: string; title: string; detail: string }[];
    };
    assert.deepEqual(
      problems
        .filter(({ kind }) => kind === "rejected" || kind === "silent")
        .map(({ title, detail }) => [title, detail]),
      [
        ["n-picky rejects cluster b", "no, I will not"],
        ["2 nodes are silent about cluster", `silent: ${silence}`],
      ],
    );
  });
});
