import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import { cluster, runningApi } from "../testing/running-api.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;

/** The API of a server with clients in memory. */
async function scene() {
  const api = await runningApi({ folder: [createResource(create(ClusterSchema, { name: "a" }))] });
  const transport = createMemoryTransport();
  await api.server.listenOn(transport, "here");
  const get = async (path: string) => (await api.ask("GET", path)).body;
  return {
    api,
    get,
    /** A client that answers each response after the first one in this way. */
    async client(id: string, answer: "ack" | "nack" | "silence", request = {}, type = typeUrl) {
      let answered: () => void = () => {};
      const first = new Promise<void>((resolve) => {
        answered = resolve;
      });
      const send = (message: MessageInitShape<typeof DiscoveryRequestSchema>) =>
        stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { typeUrl: type, ...message })));
      const stream = transport.open("here", ads, (bytes) => {
        const { nonce: responseNonce, versionInfo } = fromBinary(DiscoveryResponseSchema, bytes);
        const said =
          answer === "nack" ? { errorDetail: { code: 3, message: `a: port ${id.length} is taken` } } : { versionInfo };
        setImmediate(() => {
          if (answer !== "silence") send({ responseNonce, ...said, ...request });
          answered();
        });
      });
      send({
        node: { id, cluster: "edge", userAgentName: "envoy", locality: { region: "eu", zone: "1" } },
        ...request,
      });
      await first;
      return stream;
    },
  };
}

/** Lists are renewed after half a second. */
const renewed = () => new Promise((resolve) => setTimeout(resolve, 600));

describe("the fleet", () => {
  it("lists nodes in full page by page, even if nobody says how many", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    const names = Array.from({ length: 1_005 }, (_, index) => `n-${String(index).padStart(4, "0")}`);
    for (const name of names) await client(name, "silence");
    const first = await get("nodes");
    assert.deepEqual([first.nodes.length, first.next], [1_000, names[999]]);
    const second = await get(`nodes?after=${first.next}`);
    assert.deepEqual(
      [...first.nodes, ...second.nodes].map(({ id }: { id: string }) => id),
      names,
    );
    assert.equal(second.next, undefined);
    assert.equal((await api.ask("GET", "nodes?limit=10001")).status, 400);
  });

  it("looks at few nodes in one turn, also if few of them are listed", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    for (let index = 0; index < 60; index += 1) await client(`n-${index}`, "silence");
    let [requests, looked, turnBegan, most] = [0, 0, 0, 0];
    function* slowly<T>(nodes: Iterable<T>): Iterable<T> {
      requests += 1;
      for (const node of nodes) {
        looked += 1;
        // One of a fleet of many types.
        for (const end = performance.now() + 1; performance.now() < end; );
        yield node;
      }
    }
    const { eachNode, contentArrival } = api.server;
    api.server.eachNode = (filter) => slowly(eachNode(filter));
    api.server.contentArrival = (contents) => {
      const arrival = contentArrival(contents);
      return { ...arrival, eachNode: (options) => slowly(arrival.eachNode(options)) };
    };
    const counting = setInterval(() => {
      most = Math.max(most, looked - turnBegan);
      turnBegan = looked;
    }, 0);
    const revision = `revisions/${(await api.store.head("folder"))?.id}`;
    for (const page of ["nodes?state=rejected", `${revision}/stages`, `${revision}/arrival`]) {
      [requests, looked, turnBegan, most] = [0, 0, 0, 0];
      const { nodes, groups, counts } = await get(page);
      const waiting = counts ?? groups?.[0].stages[0].counts;
      assert.deepEqual([requests, looked, waiting?.pending ?? nodes.length], [1, 60, waiting ? 60 : 0], page);
      assert.ok(most < 20, `${page}: ${most} nodes in one turn`);
    }
    clearInterval(counting);
  });

  it("lists the nodes that a query selects, in few words", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    for (const [id, answer] of [
      ["b-1", "ack"],
      ["a-22", "nack"],
      ["c-333", "silence"],
    ] as const)
      await client(id, answer);
    const ids = async (query: string) => (await get(`fleet/nodes?${query}`)).nodes.map(({ id }: { id: string }) => id);
    const page = await get("fleet/nodes?limit=2");
    assert.deepEqual([page.total, page.nodes.length], [3, 2]);
    const [rejected] = page.nodes;
    assert.deepEqual(
      [rejected.id, rejected.state, rejected.client, rejected.locality, rejected.why],
      ["a-22", "rejected", "envoy", "eu/1", "cluster: a: port 4 is taken"],
    );
    assert.deepEqual(await ids("offset=2&limit=2"), ["c-333"]);
    assert.deepEqual(await ids("sort=state"), ["a-22", "c-333", "b-1"]);
    assert.deepEqual(await ids("sort=worst"), ["a-22", "c-333", "b-1"]);
    assert.deepEqual(await ids("sort=id&order=desc"), ["c-333", "b-1", "a-22"]);
    assert.deepEqual(await ids("state=synced,pending"), ["b-1", "c-333"]);
    assert.deepEqual(await ids("type=cluster&state=rejected"), ["a-22"]);
    assert.deepEqual(await ids("type=listener"), []);
    assert.deepEqual(await ids("q=TAKEN"), ["a-22"]);
    assert.deepEqual(await ids("group=all&client=envoy"), ["a-22", "b-1", "c-333"]);
    const { states, types, groups, clients } = await get("fleet/summary");
    assert.deepEqual(states, { synced: 1, "held-back": 0, pending: 1, stale: 0, rejected: 1 });
    for (const [{ name, states: counted }] of [types, groups, clients]) assert.deepEqual(counted, states, name);
    const { types: rows, columns } = await get("fleet/map?columns=2");
    assert.deepEqual(rows, ["cluster"]);
    assert.deepEqual(
      columns.map(({ first, last, worst }: Record<string, unknown>) => [first, last, worst]),
      [
        ["a-22", "b-1", ["rejected"]],
        ["c-333", "c-333", ["pending"]],
      ],
    );
    assert.equal((await api.ask("GET", "fleet/nodes?sort=colour")).status, 400);
  });

  it("refuses a filter with a value that no node can have, and says which there are", async () => {
    const { api, client } = await scene();
    await using _ = api;
    await client("one", "ack");
    const states = ["synced", "held-back", "pending", "stale", "rejected"];
    for (const [query, field, known] of [
      ["fleet/nodes?state=foo", "state", states],
      ["fleet/summary?state=synced,foo", "state", states],
      ["fleet/map?group=nope", "group", ["all"]],
      ["fleet/nodes?client=envoi", "client", ["envoy"]],
      ["fleet/nodes?type=clutser", "type", undefined],
      ["nodes?group=nope", "group", ["all"]],
      ["nodes/one?type=clutser", "type", undefined],
      ["nodes/one/resources?state=gone", "state", undefined],
      ["nodes/one/resources?type=clutser", "type", undefined],
      ["layers/folder/resources?type=clutser", "type", undefined],
      ["groups/all/resources?type=clutser", "type", undefined],
      ["groups/all/graph?type=clutser&name=a", "type", undefined],
    ] as const) {
      const { status, body } = await api.ask("GET", query);
      assert.deepEqual([status, body.code, body.findings[0].field], [400, "XDSKIT_API_REQUEST", field], query);
      assert.match(body.detail, /(: known are|; did you mean "cluster"\? Known are) /, query);
      assert.ok(known === undefined ? body.known.length > 2 : body.known.join() === known.join(), query);
    }
    // The schema knows these.
    for (const query of ["nodes?state=foo", "nodes?stat=synced", "fleet/nodes?stat=synced", "nodes/one?resources=some"])
      assert.equal((await api.ask("GET", query)).status, 400, query);
    assert.equal((await api.ask("GET", "nodes/one/resources?type=cds&state=synced")).body.total, 1);
  });

  it("groups rejections by their reason, and tells them among the problems", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    const streams = [await client("one", "nack"), await client("three", "nack")];
    const { errors, problems } = await get("problems");
    assert.equal(errors, 1);
    const [{ kind, count, nodes, title, detail, advice }] = problems;
    assert.deepEqual([kind, count, nodes], ["rejected", 2, ["one", "three"]]);
    assert.equal(title, "2 nodes reject cluster a");
    assert.equal(detail, "a: port 3 is taken");
    assert.ok(advice.length > 20);
    for (const stream of streams) stream.cancel();
    // The ends of streams are heard in their turn, and lists are renewed later.
    for (let left = 50; left > 0 && (await get("problems")).problems.length > 0; left -= 1) await renewed();
    assert.deepEqual((await get("problems")).problems, []);
  });

  it("shows for a node its content beside its target, and its history", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    const stream = await client("n/1", "ack");
    const path = `nodes/${encodeURIComponent("n/1")}`;
    const { total, resources } = await get(`${path}/resources?q=A`);
    assert.deepEqual([total, resources[0].name, resources[0].state], [1, "a", "synced"]);
    const same = await get(`${path}/resources/cluster/a`);
    assert.deepEqual(same.running, same.wanted);
    assert.equal(same.running["@type"], typeUrl);
    const moments = (await get(`${path}/timeline`)).moments.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(moments, ["acknowledged", "sent", "connected"]);
    assert.deepEqual(await get(`${path}/loads`), { loads: [] });
    assert.equal((await get(`${path}/summary`)).state, "synced");
    stream.cancel();
    for (const missing of [
      "nobody/loads",
      "nobody/summary",
      "nobody/resources",
      "nobody/timeline",
      "nobody/resources/cluster/a",
    ])
      assert.equal((await api.ask("GET", `nodes/${missing}`)).status, 404, missing);
    const gone = await get(`${path}/timeline`);
    assert.deepEqual([gone.isConnected, gone.moments[0].kind], [false, "disconnected"]);
  });

  it("shows a rejection at the resources that it blames, and at no other", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    await client("picky", "ack");
    const other = createResource(create(ClusterSchema, { name: "a" }));
    const bad = createResource(create(ClusterSchema, { name: "b" }));
    const stream = await client("angry", "nack");
    api.folder(other, bad);
    await renewed();
    const rejectionOf = async (name: string) => (await get(`nodes/angry/resources/cluster/${name}`)).rejection;
    // Its words are "a: port 5 is taken".
    assert.match((await rejectionOf("a")).message, /^a: port/);
    const { state } = await get("nodes/angry/resources/cluster/b");
    assert.equal((await rejectionOf("b")) === null, state !== "rejected", state);
    stream.cancel();
  });

  it("never tells a secret", async () => {
    const { api, get, client } = await scene();
    await using _ = api;
    const key = "-----BEGIN PRIVATE KEY-----\nS3CR3T\n-----END PRIVATE KEY-----\n";
    const privateKey = { specifier: { case: "inlineString", value: key } } as const;
    const secret = create(SecretSchema, { name: "cert", type: { case: "tlsCertificate", value: { privateKey } } });
    api.folder(createResource(secret));
    await client("n", "ack", { resourceNames: ["cert"] }, secretUrl);
    const texts = await Promise.all(
      [
        "nodes/n/resources/secret/cert",
        "groups/all/resources/secret/cert",
        "groups/all/resources",
        "groups/all/resources?q=S3CR3T&contents=true",
        "groups/all/graph?type=secret&name=cert",
        "nodes/n/timeline",
        "nodes/n?resources=all",
        "problems",
        "fleet/nodes",
        "layers/folder/resources",
      ].map(async (path) => JSON.stringify(await get(path))),
    );
    assert.match(texts[0] ?? "", /\[redacted\]/);
    assert.match(texts[3] ?? "", /"total":0/);
    for (const text of texts) assert.doesNotMatch(text, /S3CR3T/);
  });
});

describe("the list of a group's resources", () => {
  it("has the uses, the dangling names, and the unused resources", async () => {
    await using api = await runningApi();
    const listener = {
      "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
      name: "web",
      address: { socket_address: { address: "0.0.0.0", port_value: 80 } },
      filter_chains: [
        {
          filters: [
            {
              name: "hcm",
              typed_config: {
                "@type":
                  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                stat_prefix: "web",
                rds: { route_config_name: "routes", config_source: { ads: {} } },
              },
            },
          ],
        },
      ],
    };
    const route = {
      "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
      name: "routes",
      virtual_hosts: [
        {
          name: "shop",
          domains: ["shop.example"],
          routes: [
            { match: { prefix: "/a" }, route: { cluster: "cart" } },
            { match: { prefix: "/" }, route: { cluster: "gone" } },
          ],
        },
      ],
    };
    const upsert = [listener, route, cluster("cart"), cluster("alone")];
    const changed = await api.ask("POST", "layers/api/changes", { upsert });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const get = async (path: string) => (await api.ask("GET", `groups/all/${path}`)).body;
    const { total, counts, resources } = await get("resources");
    assert.equal(total, 4);
    assert.deepEqual(counts[0], { type: "cluster", count: 2, dangling: 0, unused: 1 });
    const named = (name: string) => resources.find((one: { name: string }) => one.name === name);
    assert.deepEqual([named("alone").unused, named("cart").unused, named("web").unused], [true, false, false]);
    assert.deepEqual(named("routes").dangling, [{ type: "cluster", name: "gone" }]);
    assert.deepEqual([named("web").summary, named("routes").layer], ["0.0.0.0:80", "api"]);
    assert.equal((await get("resources?q=shop.example")).total, 0);
    assert.equal((await get("resources?q=shop.example&contents=true")).total, 1);
    assert.equal((await get("resources?only=unused&type=cds")).total, 1);
    const order = async (query: string) =>
      (await get(`resources?${query}`)).resources.map((one: { name: string }) => one.name);
    assert.deepEqual(await order("sort=name"), ["alone", "cart", "routes", "web"]);
    assert.deepEqual(await order("sort=used-by&order=desc"), ["cart", "routes", "alone", "web"]);
    assert.deepEqual(await order("sort=uses&order=desc&limit=1"), ["routes"]);
    assert.equal((await api.ask("GET", "groups/all/resources?sort=size")).status, 400);
    const shown = await get("resources/cluster/cart");
    assert.deepEqual(shown.usedByNames, [{ type: "route", name: "routes" }]);
    assert.equal(shown.resource.connect_timeout, "1s");
    const graph = await get("graph");
    const text = ({ from, to }: { from: number; to: number }) => `${graph.nodes[from].name} → ${graph.nodes[to].name}`;
    assert.deepEqual(graph.edges.map(text).sort(), [
      "routes → routes/shop",
      "routes/shop → cart",
      "routes/shop → gone",
      "web → routes",
    ]);
    const nodeOf = (name: string) => graph.nodes.find((one: { name: string }) => one.name === name);
    assert.deepEqual([nodeOf("alone").unused, nodeOf("cart").unused, nodeOf("alone").health], [true, false, null]);
    assert.equal(graph.nodes.find((one: { name: string }) => one.name === "gone").isThere, false);
    const upwards = await get("graph?type=cluster&name=cart");
    assert.ok(upwards.nodes.some((one: { name: string }) => one.name === "web"));
    assert.equal((await api.ask("GET", "groups/none/resources")).status, 404);
    assert.deepEqual((await api.ask("GET", "groups")).body.groups, [{ name: "all", streams: 0, resources: 4 }]);
  });
});

describe("the description of a field", () => {
  it("comes from the protos, through messages, lists and maps", async () => {
    await using api = await runningApi();
    const get = async (path: string) => (await api.ask("GET", `fields/${path}`)).body;
    const timeout = await get(`${encodeURIComponent(typeUrl)}/connect_timeout`);
    assert.deepEqual([timeout.type, timeout.deprecated], ["google.protobuf.Duration", false]);
    assert.deepEqual(timeout.rules, ["> 0s"]);
    assert.match(timeout.comment, /^The timeout for new network connections to hosts in the cluster\./);
    assert.match(
      timeout.docs,
      /cluster\/v3\/cluster\.proto#envoy-v3-api-field-config-cluster-v3-cluster-connect-timeout$/,
    );
    const policy = await get("envoy.config.cluster.v3.Cluster/lbPolicy");
    assert.ok(policy.values.includes("ROUND_ROBIN"));
    const inMap = "typed_extension_protocol_options.some-key";
    assert.equal((await get(`envoy.config.cluster.v3.Cluster/${inMap}`)).type, "map to google.protobuf.Any");
    const deep = await get("envoy.config.cluster.v3.Cluster/health_checks.http_health_check.path");
    assert.equal(deep.type, "string");
    assert.match(deep.comment, /\/healthcheck/);
    assert.deepEqual(deep.rules, ["not empty", "http header value"]);
    // What the protos say nothing of has what they say of its message, or nothing.
    assert.equal((await get("google.protobuf.Duration/seconds")).comment, null);
    assert.equal((await api.ask("GET", "fields/envoy.config.cluster.v3.Cluster/nothing")).status, 404);
    assert.equal((await api.ask("GET", "fields/no.Message/name")).status, 404);
  });
});
