import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createAuthority } from "../../../../api/src/testing/certificates.js";
import { serviceClient } from "../../../../server/src/testing/clients/service-client.js";
import { delta } from "../../../../server/src/testing/clients/xds-client.js";
import {
  type Asked,
  type SpokenServer,
  spokenServer,
} from "../../../../source-kubernetes/src/testing/spoken-server.js";
import { eventually } from "../../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0", "--state", "off"];

const cart = {
  type: "ADDED",
  object: { metadata: { namespace: "shop", name: "cart" }, spec: { ports: [{ port: 8080 }] } },
};
const slice = {
  type: "ADDED",
  object: {
    metadata: { namespace: "shop", name: "cart-1", labels: { "kubernetes.io/service-name": "cart" } },
    addressType: "IPv4",
    ports: [{ port: 9000 }],
    endpoints: [{ addresses: ["10.0.0.1"] }],
  },
};
const all = {
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
};

/** A cluster, for which the test speaks, and its kubeconfig in a folder. */
async function cluster(t: TestContext, folder: TestFolder, more: object = {}) {
  const server = await spokenServer(t);
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: server.connection.server.origin, ...more } }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  await folder.write(".kubeconfig", JSON.stringify(config));
  return {
    server,
    args: ["--kubernetes", "--kubeconfig", `${folder.path}/.kubeconfig`],
    /** Answers both watches; they go on. */
    async says(): Promise<readonly Asked[]> {
      const watches = [await server.asked(), await server.asked()];
      for (const watch of watches) {
        watch.say(watch.path.endsWith("/services") ? cart : slice);
        watch.say(all);
      }
      return watches;
    },
  };
}

async function address(running: RunningServer, listener: "grpc" | "admin"): Promise<string> {
  const [, found = ""] = await running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
  return found;
}

const got = async (running: RunningServer, type: string, ...names: readonly string[]) =>
  (await inProcessEnds("get", "--type", type, "--server", await address(running, "grpc"), "-o", "name", ...names)).out;

/** A cluster with one Service and a route for its calls, for whose five watches the test speaks. */
async function routed(t: TestContext, server: SpokenServer, running: RunningServer) {
  const typeUrl = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
  const parentRefs = [{ group: "", kind: "Service", name: "cart" }];
  let generation = 0;
  let state: { status?: unknown } = {};
  const route = (match: object) => ({
    metadata: { namespace: "shop", name: "r", resourceVersion: `${Math.random()}`, generation },
    spec: { parentRefs, rules: [{ matches: [match], backendRefs: [{ name: "cart", port: 8080 }] }] },
    ...state,
  });
  let last: object = {};
  const watches: Asked[] = [];
  for (const _ of [1, 2, 3, 4, 5]) watches.push(await server.asked());
  const routes = watches.find(({ path }) => path.endsWith("/grpcroutes")) ?? assert.fail("no routes");
  const changes = (match: object) => {
    generation += 1;
    last = match;
    routes.say({ type: generation === 1 ? "ADDED" : "MODIFIED", object: route(match) });
  };
  watches.find(({ path }) => path.endsWith("/services"))?.say(cart);
  changes({});
  for (const watch of watches) watch.say(all);
  await running.seen(/^ready$/m);
  return {
    changes,
    /** The reasons in the status that is written next. */
    async written() {
      const asked = await server.asked();
      asked.end(200, {});
      const { status } = asked.body as { status: { parents: { conditions: { reason: string; message: string }[] }[] } };
      state = { status };
      routes.say({ type: "MODIFIED", object: route(last) });
      return (status.parents[0]?.conditions ?? []).map(({ reason, message }) => `${reason}: ${message}`);
    },
    async writesNothing(ms: number) {
      await delay(ms);
      assert.equal(server.waiting, 0);
    },
    /** A client that asks for the route. */
    async connect() {
      const client = serviceClient(await address(running, "grpc"));
      t.after(() => client.close());
      const service = "envoy.service.discovery.v3.AggregatedDiscoveryService";
      const stream = delta(client.call(`/${service}/DeltaAggregatedResources`));
      stream.send({ node: { id: "web.1" }, typeUrl, resourceNamesSubscribe: ["cart.shop:8080"] });
      return {
        next: async () => (await stream.next()).nonce,
        accepts: (responseNonce: string) => stream.send({ typeUrl, responseNonce }),
        rejects: (responseNonce: string, message: string) =>
          stream.send({ typeUrl, responseNonce, errorDetail: { code: 3, message } }),
        close: () => client.close(),
      };
    },
  };
}

describe("serve --kubernetes", { concurrency: 8 }, () => {
  it("opens the ports for clients once the API server has said all, and says meanwhile what is missing", async (t) => {
    await using folder = await testFolder();
    const kubernetes = await cluster(t, folder);
    await using running = servesHere("serve", ...kubernetes.args, ...anyPorts);
    for (const _ of [1, 2]) (await kubernetes.server.asked()).end(403, { message: "it is forbidden to you" });
    const admin = `http://${await address(running, "admin")}`;
    const ready = await fetch(`${admin}/readyz`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /kubernetes: the API server http:\S+ refuses: it is forbidden to you; allow it/);
    assert.doesNotMatch(running.out(), /grpc listening/);
    const watches = await kubernetes.says();
    await running.seen(/^ready$/m);
    await running.seen(/serves Kubernetes at http:\S+: 1 Service\b/, "err");
    assert.equal(await got(running, "endpoint", "cart.shop:8080"), "endpoint/cart.shop:8080\n");
    // The file that kubectl would show.
    const where = await (await fetch(`${admin}/api/v1/layers`)).text();
    assert.match(where, /"name":\s*"kubernetes"/);
    assert.doesNotMatch(where, /"folder"/);
    // Both break, and are refused when they come again.
    for (const watch of watches) watch.cut();
    for (const _ of watches) (await kubernetes.server.asked()).end(503, { message: "not now" });
    const status = await eventually(
      async () => (await inProcessEnds("status", "--server", await address(running, "grpc"))).out,
      (out) => out !== "" && /not now/.test(out),
    );
    assert.match(status, /kubernetes has errors.*refuses: not now; what is served is of 20\d\d-/);
    await running.seen(/kubernetes-away|what it said last is served/, "err");
    for (const _ of watches) (await kubernetes.server.asked()).say(all);
    await running.seen(/answers again/, "err");
    assert.equal(await got(running, "endpoint", "cart.shop:8080"), "endpoint/cart.shop:8080\n");
  });

  it("lies below a folder, in every group, also after an edit of the settings", async (t) => {
    const group = (name: string, match: string, folders: string) =>
      `{ name: ${name}, match: { id: "${match}" }, folders: [${folders}] }`;
    await using folder = await testFolder({
      "a/cart.yaml": clusterYaml("cart.shop:8080", "7s"),
      "b/b.yaml": clusterYaml("b"),
      "xdskit.yaml": `groups:\n- ${group("one", "*", "a")}\n`,
    });
    const kubernetes = await cluster(t, folder);
    await using running = servesHere("serve", folder.path, ...kubernetes.args, ...anyPorts);
    await kubernetes.says();
    await running.seen(/^ready$/m);
    const cluster7s = async () =>
      (await inProcessEnds("get", "--type", "cluster", "--server", await address(running, "grpc"), "cart.shop:8080"))
        .out;
    assert.match(await cluster7s(), /7s/);
    await folder.write("xdskit.yaml", `groups:\n- ${group("one", "*", "b")}\n`);
    await running.seen(/settings in use: groups/, "err");
    assert.doesNotMatch(await cluster7s(), /7s/);
    assert.deepEqual((await got(running, "cluster")).trim().split("\n").sort(), [
      "cluster/b",
      "cluster/cart.shop:8080",
    ]);
  });

  it("is given to other groups by an edit of the settings, though there is no folder", async (t) => {
    const groups = (name: string, match: string) =>
      `groups: [{ name: ${name}, match: { id: "${match}" }, folders: [${name}] }]\n`;
    await using folder = await testFolder({ "own.yaml": groups("one", "a*") });
    const kubernetes = await cluster(t, folder);
    const settings = ["--settings", `${folder.path}/own.yaml`];
    await using running = servesHere("serve", ...kubernetes.args, ...settings, ...anyPorts);
    await kubernetes.says();
    await running.seen(/^ready$/m);
    assert.equal(await got(running, "cluster", "--node-id", "a1"), "cluster/cart.shop:8080\n");
    await folder.write("own.yaml", groups("two", "b*"));
    await running.seen(/settings in use: groups/, "err");
    assert.equal(await got(running, "cluster", "--node-id", "b1"), "cluster/cart.shop:8080\n");
    assert.equal(await got(running, "cluster", "--node-id", "a1"), "");
  });

  it("serves Secrets only where rules say who gets them, also after an edit of the settings", async (t) => {
    const issued = createAuthority("of the shop").issue("cart", "DNS:cart");
    const data = Object.entries({ "tls.crt": issued.certificate, "tls.key": issued.key }).map(([key, text]) => {
      return [key, Buffer.from(text).toString("base64")];
    });
    const metadata = { namespace: "shop", name: "cart-tls" };
    const secret = { metadata, type: "kubernetes.io/tls", data: Object.fromEntries(data) };
    const rules = (text: string) =>
      `identities:\n- { when: { network: 127.0.0.0/8 }, node: { id: "edge-*" }${text} }\n`;
    const others = "- { when: { network: 127.0.0.0/8 }, node: {} }\n";
    await using folder = await testFolder({ "own.yaml": rules("") });
    const kubernetes = await cluster(t, folder);
    const own = `${folder.path}/own.yaml`;
    const args = ["serve", ...kubernetes.args, "--tls-secrets", "serve=true", "--settings", own, ...anyPorts];
    const { status, err } = await inProcessEnds(...args);
    assert.deepEqual([status, /no rule of identities has `secrets: true`/.test(err)], [2, true], err);
    await folder.write("own.yaml", rules(", secrets: true") + others);
    await using running = servesHere(...args);
    for (const _ of [1, 2, 3]) {
      const watch = await kubernetes.server.asked();
      if (watch.path.endsWith("/secrets")) {
        const asked = [watch.query.get("labelSelector"), watch.query.get("fieldSelector")];
        assert.deepEqual(asked, ["serve=true", "type=kubernetes.io/tls"]);
        watch.say({ type: "ADDED", object: secret });
      }
      watch.say(all);
    }
    await running.seen(/^ready$/m);
    assert.equal(await got(running, "secret", "--node-id", "edge-1", "shop/cart-tls"), "secret/shop/cart-tls\n");
    await folder.write("own.yaml", `identities:\n${others}`);
    await running.seen(/no rule of identities has `secrets: true`/, "err");
    assert.equal(await got(running, "secret", "--node-id", "edge-1", "shop/cart-tls"), "secret/shop/cart-tls\n");
    assert.ok(!`${running.out()}${running.err()}`.includes("PRIVATE KEY"));
  });

  it("serves ConfigMaps to the groups of their folders, and keeps what one had while it has errors", async (t) => {
    const group = (name: string, folders: string) =>
      `{ name: ${name}, match: { id: "${name}-*" }, folders: [${folders}] }`;
    await using folder = await testFolder({
      "edge/e.yaml": clusterYaml("both", "7s"),
      "rest/r.yaml": clusterYaml("r"),
      "xdskit.yaml": `groups: [${group("edge", "edge")}, ${group("rest", "rest")}]\n`,
    });
    const kubernetes = await cluster(t, folder);
    const args = ["serve", folder.path, ...kubernetes.args, "--config-maps", "serve=true", ...anyPorts];
    await using running = servesHere(...args);
    const watches: Asked[] = [];
    for (const _ of [1, 2, 3]) watches.push(await kubernetes.server.asked());
    const maps = watches.find(({ path }) => path.endsWith("/configmaps")) ?? assert.fail("no ConfigMaps");
    assert.equal(maps.query.get("labelSelector"), "serve=true");
    const put = (name: string, text: string, of?: string) => {
      const annotations = of === undefined ? {} : { "xdskit.github.io/folder": of };
      const object = { metadata: { namespace: "shop", name, annotations }, data: { "a.yaml": text } };
      maps.say({ type: "MODIFIED", object });
    };
    const [edge, rest] = ["edge-1", "rest-1"];
    const clusters = async (node: string) =>
      (await got(running, "cluster", "--node-id", node)).replaceAll("cluster/", "").trim().split("\n").sort().join();
    put("all", clusterYaml("all"));
    put("edge", `${clusterYaml("both", "9s")}no_such: 1\n`, "edge");
    for (const watch of watches) watch.say(all);
    const admin = `http://${await address(running, "admin")}`;
    const ready = await eventually(
      async () => await (await fetch(`${admin}/readyz`)).text(),
      (text) => text.includes("no_such"),
    );
    assert.match(ready, /ConfigMap shop\/edge\/a\.yaml:\d+:\d+: .*no_such/);
    assert.doesNotMatch(running.out(), /grpc listening/);
    // As the files of a folder, they win over what is made of Services; and the files over them.
    put("edge", `${clusterYaml("both", "9s")}---\n${clusterYaml("e")}`, "edge");
    await running.seen(/^ready$/m);
    assert.deepEqual([await clusters(edge), await clusters(rest)], ["all,both,e", "all,r"]);
    const both = async () =>
      (await inProcessEnds("get", "--type", "cluster", "--server", await address(running, "grpc"), "--node-id", edge))
        .out;
    assert.match(await both(), /7s/);
    assert.doesNotMatch(await both(), /9s/);
    // An error of one changes nothing of it, and keeps no other one.
    put("edge", "nothing: here\n", "edge");
    put("all", clusterYaml("all2"));
    await eventually(
      async () => await clusters(rest),
      (names) => names === "all2,r",
    );
    assert.equal(await clusters(edge), "all2,both,e");
    const status = (await inProcessEnds("status", "--server", await address(running, "grpc"))).out;
    assert.match(status, /kubernetes has errors.*ConfigMap shop\/edge\/a\.yaml:1/);
    put("edge", clusterYaml("e2"), "new");
    const problems = () => fetch(`${admin}/api/v1/problems`).then((response) => response.text());
    await eventually(problems, (text) => text.includes('no group has the folder \\"new\\"'));
    assert.equal(await clusters(edge), "all2,both");
    await folder.write("new/n.yaml", clusterYaml("n"));
    await folder.write("xdskit.yaml", `groups: [${group("edge", "edge, new")}, ${group("rest", "rest")}]\n`);
    await running.seen(/settings in use: groups/, "err");
    await eventually(problems, (text) => !text.includes("no group has the folder"));
    assert.equal(await clusters(edge), "all2,both,e2,n");
    const layers = (await (await fetch(`${admin}/api/v1/layers`)).json()) as { layers: { name: string }[] };
    assert.deepEqual(
      layers.layers.map(({ name }) => name),
      [
        "kubernetes",
        "config-maps",
        "config-maps/edge",
        "edge",
        "config-maps/new",
        "new",
        "config-maps/rest",
        "rest",
        "api",
      ],
    );
  });

  it("follows routes of the Gateway API if it is told to, and says in their status what a client rejects", async (t) => {
    await using folder = await testFolder();
    const kubernetes = await cluster(t, folder);
    await using running = servesHere("serve", ...kubernetes.args, "--gateway-api", ...anyPorts);
    const { written, writesNothing, connect } = await routed(t, kubernetes.server, running);
    assert.equal((await written()).length, 2);
    const client = await connect();
    client.rejects(await client.next(), "cart.shop:8080: not this one");
    const rejected = "RejectedByClient: the client web.1 rejected what was made of it: cart.shop:8080: not this one";
    assert.equal((await written())[2], rejected);
    const status = (await inProcessEnds("status", "--server", await address(running, "grpc"))).out;
    assert.match(status, /1 rejected/);
    // One that comes back at once is not gone, and one that is gone rejects nothing.
    client.close();
    const again = await connect();
    again.rejects(await again.next(), "cart.shop:8080: not this one");
    await writesNothing(6_000);
    again.close();
    assert.equal((await written()).length, 2);
  });

  it("says nothing in a route's status of a rejection of what was made of it before", async (t) => {
    await using folder = await testFolder();
    const kubernetes = await cluster(t, folder);
    await using running = servesHere("serve", ...kubernetes.args, "--gateway-api", ...anyPorts);
    const { written, writesNothing, connect, changes } = await routed(t, kubernetes.server, running);
    assert.equal((await written()).length, 2);
    const client = await connect();
    const old = await client.next();
    changes({ method: { service: "a.B" } });
    const next = await client.next();
    // Of another generation.
    assert.equal((await written()).length, 2);
    client.rejects(old, "cart.shop:8080: too late");
    await writesNothing(1_000);
    client.rejects(next, "cart.shop:8080: nor this one");
    assert.match((await written())[2] ?? "", /: nor this one$/);
    changes({});
    client.accepts(await client.next());
    assert.equal((await written()).length, 2);
    await writesNothing(1_000);
  });

  it("warns if the kubeconfig has the certificate of the server not checked", async (t) => {
    await using folder = await testFolder();
    const kubernetes = await cluster(t, folder, { "insecure-skip-tls-verify": true });
    await using running = servesHere("serve", ...kubernetes.args, ...anyPorts);
    await running.seen(/\bwarn\b.*insecure-skip-tls-verify.*\.kubeconfig/i, "err");
    await kubernetes.says();
    await running.seen(/^ready$/m);
  });

  it("says what is wrong with its options", async (t) => {
    await using folder = await testFolder({
      "kubernetes/a.yaml": clusterYaml("a"),
      "config-maps/x/a.yaml": clusterYaml("a"),
    });
    const said = async (...args: readonly string[]) => {
      const { status, err } = await inProcessEnds("serve", ...args, ...anyPorts);
      assert.equal(status, 2, err);
      return err;
    };
    assert.match(await said("--namespace", "shop"), /option '--namespace' needs --kubernetes/);
    assert.match(await said("--gateway-api"), /option '--gateway-api' needs --kubernetes/);
    assert.match(await said("--kubernetes", "--kubeconfig", "/nowhere"), /\/nowhere: .*there is no such file/);
    const kubernetes = await cluster(t, folder);
    await folder.write("xdskit.yaml", "groups: [{ name: g, match: {}, folders: [kubernetes] }]\n");
    assert.match(await said(folder.path, ...kubernetes.args), /a folder or a layer is called "kubernetes"/);
    // Any ConfigMap may name the folder `x`.
    await folder.write("xdskit.yaml", "groups: [{ name: g, match: {}, folders: [config-maps/x] }]\n");
    const withMaps = [...kubernetes.args, "--config-maps", ""];
    assert.match(await said(folder.path, ...withMaps), /a folder or a layer is called "config-maps\/x"/);
    await folder.write("xdskit.yaml", "layers: [{ name: config-maps }]\n");
    assert.match(await said(folder.path, ...withMaps), /a folder or a layer is called "config-maps"/);
  });
});
