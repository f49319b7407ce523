import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { Cluster_DiscoveryType } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { LbEndpoint } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import type { ConfigOptions, ConfigWatcher, XdsConfig } from "../contract/xds-config.js";
import {
  aggregateCluster,
  apiListener,
  assignment,
  edsCluster,
  endpointList,
  host,
  hosts,
  httpChain,
  inlineCluster,
  listAssignment,
  routes,
  socketListener,
  tcpChain,
} from "../testing/config-messages.js";
import { createScriptedClient, noSuch, type ScriptedClient } from "../testing/scripted/scripted-client.js";
import { createConfigIterator } from "./config-iterator.js";
import { createWatchConfig } from "./watch-config.js";

describe("the watch of a configuration", () => {
  it("a watcher is told nothing before every leaf is known, then everything at once", async () => {
    const { client, calls } = watching("app");
    await client.give(apiListener("app", "r"));
    assert.deepEqual(client.watched, ["listener app", "route r"]);
    await client.give(routes("r", "a", "b"));
    assert.deepEqual(client.watched, ["cluster a", "cluster b", "listener app", "route r"]);
    await client.give(edsCluster("a", "a-endpoints"));
    await client.fail("cluster", "b");
    assert.deepEqual(calls, []);
    await client.give(assignment("a-endpoints", 1, 2));
    assert.deepEqual(calls, ["r; a: a-endpoints 1 2; b: error"]);
  });

  it("each change is reported once it is complete, and the replaced part is dropped only then", async () => {
    const log: string[] = [];
    const { client, calls } = watching("app", {}, log);
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(edsCluster("a"));
    await client.give(assignment("a", 1));
    log.length = 0;
    await client.give(apiListener("app", routes("inline", "b")));
    await client.give(edsCluster("b"));
    // A resource in use changes meanwhile. It is not reported, since the routes have changed by now.
    await client.give(assignment("a", 2));
    assert.deepEqual(log, ["+cluster b", "+endpoint b"]);
    await client.give(assignment("b", 3));
    assert.deepEqual(log, ["+cluster b", "+endpoint b", "told", "-cluster a", "-endpoint a"]);
    assert.deepEqual(calls, ["inline; a: a 1", "inline; b: b 3"]);
  });

  it("a cluster stays as it was until the load assignment that its change names has come (rule 126)", async () => {
    const { client, calls } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(edsCluster("a", "one"));
    await client.give(assignment("one", 1));
    await client.give(edsCluster("a", "two"));
    assert.deepEqual(client.watched, ["cluster a", "endpoint one", "endpoint two", "listener app"]);
    assert.equal(calls.length, 1);
    await client.give(assignment("two", 2));
    assert.deepEqual(calls, ["inline; a: one 1", "inline; a: two 2"]);
    assert.deepEqual(client.watched, ["cluster a", "endpoint two", "listener app"]);
  });

  it("lists that a load assignment names are part of the configuration, which is complete with them", async () => {
    const { client, calls, configs } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(edsCluster("a"));
    await client.give(listAssignment("a", "a/one", "a/two"));
    const lists = ["locality-endpoint-collection a/one", "locality-endpoint-collection a/two"];
    assert.deepEqual(client.watched, ["cluster a", "endpoint a", "listener app", ...lists]);
    await client.give(endpointList(1, 2), "a/one");
    assert.deepEqual(calls, []);
    await client.fail("locality-endpoint-collection", "a/two");
    assert.deepEqual(calls, ["inline; a: a (a/one 1 2) (a/two error)"]);
    const [before] = configs;
    await client.give(endpointList(), "a/two");
    const [one, after] = [before, configs.at(-1)].map((config) => {
      const cluster = config?.clusters.get("a");
      return cluster?.kind === "cluster" && cluster.endpoints.kind === "assignment" ? cluster.endpoints : undefined;
    });
    assert.equal(after?.lists[0], one?.lists[0], "what did not change is the same object");
    // The assignment goes back to one list, then to endpoints of its own: no list is asked for any more.
    await client.give(listAssignment("a", "a/one"));
    await client.give(assignment("a", 3));
    assert.deepEqual(client.watched, ["cluster a", "endpoint a", "listener app"]);
    await client.give(listAssignment("a", "a/one"));
    await client.give(endpointList(4), "a/one");
    await client.give(endpointList(5), "a/one");
    assert.deepEqual(calls.slice(1), [
      "inline; a: a (a/one 1 2) (a/two)",
      "inline; a: a (a/one 1 2)",
      "inline; a: a 3",
      "inline; a: a (a/one 4)",
      "inline; a: a (a/one 5)",
    ]);
  });

  it("a change that is taken back leaves nothing behind", async () => {
    const { client, calls } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    await client.give(apiListener("app", routes("inline", "b")));
    await client.give(apiListener("app", routes("inline", "a")));
    assert.deepEqual(client.watched, ["cluster a", "listener app"]);
    assert.deepEqual(calls, ["inline; a: static 1", "inline; a: static 1"]);
  });

  it("the whole configuration is an error without a listener or routes, and comes back with them", async () => {
    const { client, calls } = watching("app");
    await client.fail("listener", "app");
    await client.give(apiListener("app", "r"));
    await client.fail("route", "r");
    await client.give(routes("r", "a"));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    await client.fail("route", "r");
    assert.deepEqual(client.watched, ["listener app", "route r"]);
    await client.fail("listener", "app");
    assert.deepEqual(client.watched, ["listener app"]);
    const errors = calls.map((call) => call.replace(/ \[.*/, ""));
    assert.deepEqual(errors, [
      'error listener "app": does not exist',
      'error route "r": does not exist',
      "r; a: static 1",
      'error route "r": does not exist',
      'error listener "app": does not exist',
    ]);
  });

  it("the virtual host of the authority is chosen, with only its clusters", async () => {
    const { client, calls } = watching("app", { authority: "shop.example" });
    await client.give(apiListener("app", "r"));
    await client.give(hosts("r", host("other", ["*"], "x"), host("shop", ["*.example"], "a")));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.LOGICAL_DNS, 1));
    assert.deepEqual(calls, ["r shop; a: logical-dns 1"]);
    await client.give(hosts("r", host("other", ["other.example"], "x")));
    assert.match(calls[1] ?? "", /^error route "r": no virtual host serves the authority "shop.example"/);
  });

  it("mirrored and weighted clusters, plugins and headers are recorded", async () => {
    const { client, configs } = watching("app");
    const action = (value: object) => ({ match: {}, action: { case: "route" as const, value } });
    const weighted = { clusters: [{ name: "w1" }, { clusterHeader: "x-weighted" }, { name: "w2" }] };
    const message = create(RouteConfigurationSchema, {
      name: "r",
      virtualHosts: [
        {
          name: "all",
          domains: ["*"],
          routes: [
            action({ clusterSpecifier: { case: "weightedClusters", value: weighted } }),
            action({
              clusterSpecifier: { case: "clusterSpecifierPlugin", value: "lookup" },
              requestMirrorPolicies: [{ cluster: "shadow" }],
            }),
            action({ clusterSpecifier: { case: "clusterHeader", value: "x-cluster" } }),
          ],
        },
      ],
    });
    await client.give(apiListener("app", message));
    for (const name of ["w1", "w2", "shadow"]) await client.fail("cluster", name);
    const [found] = configs.at(-1)?.routes ?? [];
    assert.ok(found?.kind === "routes");
    assert.deepEqual([...found.clusters].sort(), ["shadow", "w1", "w2"]);
    assert.deepEqual([found.plugins, found.clusterHeaders], [["lookup"], ["x-weighted", "x-cluster"]]);
  });

  it("all route configurations of a listener with filter chains are reported, each with its own error, and the references of its filters", async () => {
    const { client, configs } = watching("ingress");
    await client.give(
      socketListener(
        "ingress",
        httpChain("one", "r1"),
        httpChain("two", "r2"),
        httpChain("", "r1"),
        tcpChain("tcp", "db"),
        httpChain("in", routes("inline", "i")),
      ),
    );
    assert.deepEqual(client.watched, ["cluster db", "cluster i", "listener ingress", "route r1", "route r2"]);
    await client.give(routes("r1", "a"));
    for (const name of ["db", "i", "a"]) await client.fail("cluster", name);
    assert.equal(configs.length, 0);
    await client.fail("route", "r2");
    const found = configs[0]?.routes.map(({ kind, name, usedBy }) => `${kind} ${name}: ${usedBy}`);
    assert.deepEqual(found, ["routes r1: one,filter_chains[2]", "error r2: two", "routes inline: in"]);
    assert.deepEqual([...(configs[0]?.clusters.keys() ?? [])].sort(), ["a", "db", "i"]);
  });

  it("clusters that are subscribed to are added until the last subscription is cancelled", async () => {
    const { client, calls, watch } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    const subscriptions = [watch.subscribe("b"), watch.subscribe("b")];
    await turns();
    await client.give(inlineCluster("b", Cluster_DiscoveryType.STATIC, 2));
    subscriptions[0]?.cancel();
    subscriptions[0]?.cancel();
    await turns();
    assert.deepEqual(client.watched, ["cluster a", "cluster b", "listener app"]);
    subscriptions[1]?.cancel();
    await turns();
    assert.deepEqual(client.watched, ["cluster a", "listener app"]);
    assert.deepEqual(calls, ["inline; a: static 1", "inline; a: static 1; b: static 2", "inline; a: static 1"]);
  });

  it("a cancelled watch holds nothing, and calls nobody", async () => {
    const { client, calls, watch } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    const given = client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    watch.cancel();
    await given;
    assert.deepEqual([client.watched, calls], [[], []]);
  });

  it("an ambient error is reported beside the configuration in use, and its end is reported", async () => {
    const { client, calls } = watching("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(edsCluster("a"));
    await client.give(assignment("a", 1));
    const away = XdskitError.of("XDSKIT_FILE_UNREADABLE", "away");
    await client.ambient("endpoint", "a", away);
    await client.ambient("endpoint", "a", XdskitError.of("XDSKIT_FILE_UNREADABLE", "away"));
    await client.ambient("cluster", "a", away);
    await client.give(edsCluster("a", "", "other"));
    await client.give(assignment("a", 2));
    const one = "inline; a: a 1";
    assert.deepEqual(calls, [
      one,
      "ambient endpoint a",
      "ambient endpoint a, cluster a",
      one,
      "ambient endpoint a",
      "inline; a: a 2",
      "ambient ",
    ]);
  });

  it("unchanged parts stay the same objects, and the changes of one turn are one change", async () => {
    const { client, configs } = watching("app");
    await client.give(apiListener("app", routes("inline", "a", "b", "loop")));
    const given = [client.give(edsCluster("a")), client.give(edsCluster("b"))];
    given.push(client.give(aggregateCluster("loop", "loop")));
    await Promise.all(given);
    await Promise.all([client.give(assignment("a", 1)), client.give(assignment("b", 1))]);
    await client.give(assignment("a", 2));
    const [before, after] = configs;
    assert.equal(configs.length, 2);
    assert.equal(before?.routes, after?.routes);
    const same = ["a", "b", "loop"].map((name) => before?.clusters.get(name) === after?.clusters.get(name));
    assert.deepEqual(same, [false, true, true]);
  });

  it("reading waits while the watcher is busy, and the watcher then gets the newest configuration", async () => {
    const client = createScriptedClient();
    const calls: string[] = [];
    let release = () => {};
    configOf(client)("app", {
      onChanged: (config) => {
        calls.push(text(config));
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    });
    await client.give(apiListener("app", routes("inline", "a")));
    const given = [1, 2, 3].map(async (port) => {
      await turns();
      await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, port));
      return port;
    });
    await turns();
    const first = await Promise.race([...given, turns().then(() => "held up")]);
    assert.equal(first, "held up");
    release();
    await turns();
    release();
    await Promise.all(given);
    assert.deepEqual(calls, ["inline; a: static 1", "inline; a: static 3"].slice(0, calls.length));
    assert.equal(calls.at(-1), "inline; a: static 3");
  });

  it("the watch goes on after its watcher threw, and says so", async () => {
    const client = createScriptedClient();
    const failures: unknown[] = [];
    const calls: string[] = [];
    const onChanged = (config: XdsConfig) => {
      calls.push(text(config));
      throw new Error("mine");
    };
    configOf(client, failures)("app", { onChanged });
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 2));
    assert.deepEqual([calls.length, failures.length], [2, 2]);
  });

  it("a watch is also an iterator that gives the newest configuration", async () => {
    const client = createScriptedClient();
    const iterator = configOf(client)("app");
    await client.give(apiListener("app", routes("inline", "a")));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 1));
    await client.give(inlineCluster("a", Cluster_DiscoveryType.STATIC, 2));
    const seen: string[] = [];
    for await (const item of iterator) {
      seen.push(item.kind === "changed" ? text(item.value) : item.error.message);
      if (seen.length === 2) break;
      await client.fail("listener", "app");
    }
    assert.deepEqual(seen, ["inline; a: static 2", noSuch("listener", "app").message]);
    assert.deepEqual(client.watched, []);
  });

  it("an iterator does not report an error that is over", async () => {
    let watcher: ConfigWatcher | undefined;
    const iterator = createConfigIterator((given) => {
      watcher = given;
      return { cancel() {}, subscribe: () => ({ cancel() {} }) };
    });
    watcher?.onAmbient?.([{ type: "cluster", name: "a", error: noSuch("cluster", "a") }]);
    watcher?.onAmbient?.([]);
    let item: string | undefined;
    const next = iterator.next().then(({ value }) => {
      item = value?.kind;
    });
    await turns();
    assert.equal(item, undefined);
    iterator.cancel();
    await next;
  });

  it("a collection is not taken for a listener, and no collection is requested as a cluster", async () => {
    const { client, calls } = watching("app");
    assert.throws(() => configOf(client)("*", { onChanged: () => {} }), /XDSKIT_CLIENT_OPTION/);
    await client.give(apiListener("app", routes("inline", "*")));
    assert.deepEqual([client.watched, calls], [["listener app"], ["inline; *: error"]]);
  });
});

/** Runs everything that is ready. */
async function turns(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function configOf(client: ScriptedClient, failures: unknown[] = []) {
  return createWatchConfig({ client, failed: (error) => failures.push(error) });
}

function watching(name: string, options?: ConfigOptions, log: string[] = []) {
  const client = createScriptedClient((what) => log.push(what));
  const calls: string[] = [];
  const configs: XdsConfig[] = [];
  const watch = configOf(client)(
    name,
    {
      onChanged: (config, previous) => {
        assert.equal(previous, configs.at(-1));
        log.push("told");
        configs.push(config);
        calls.push(text(config));
      },
      onError: (error) => void calls.push(`error ${error.message}`),
      onAmbient: (problems) =>
        void calls.push(`ambient ${problems.map(({ type, name }) => `${type} ${name}`).join(", ")}`),
    },
    options,
  );
  return { client, calls, configs, watch };
}

function portsOf(endpoints: readonly LbEndpoint[]): readonly unknown[] {
  return endpoints.map(({ hostIdentifier }) => {
    const address = hostIdentifier.case === "endpoint" ? hostIdentifier.value.address?.address : undefined;
    return address?.case === "socketAddress" ? address.value.portSpecifier.value : undefined;
  });
}

/** `ROUTES VIRTUAL_HOST; CLUSTER: ASSIGNMENT PORT… (LIST PORT…)` */
function text(config: XdsConfig): string {
  const clusters = [...config.clusters.values()].map((cluster) => {
    if (cluster.kind === "aggregate") return `${cluster.name}: ${cluster.leaves.join(" ")}`;
    if (cluster.kind === "error") return `${cluster.name}: error`;
    const { endpoints } = cluster;
    if (endpoints.kind === "error" || endpoints.kind === "other") return `${cluster.name}: ${endpoints.kind}`;
    const assignment = endpoints.kind === "inline" ? endpoints.assignment : endpoints.resource.message;
    const ports = portsOf((assignment?.endpoints ?? []).flatMap(({ lbEndpoints }) => lbEndpoints));
    const lists = (endpoints.kind === "assignment" ? endpoints.lists : []).map((list) => {
      return `(${[list.name, ...(list.kind === "list" ? portsOf(list.endpoints) : ["error"])].join(" ")})`;
    });
    const kind = endpoints.kind === "inline" ? endpoints.discovery : endpoints.resource.name;
    return `${cluster.name}: ${[kind, ...ports, ...lists].join(" ")}`;
  });
  const host = config.virtualHost === undefined ? "" : ` ${config.virtualHost.name}`;
  return [`${config.routeConfiguration?.name}${host}`, ...clusters].join("; ");
}
