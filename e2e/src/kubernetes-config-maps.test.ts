import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { movedFiles } from "./harness/basics/moved-files.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { apiserverPrograms, KubeApiserver } from "./harness/peers/kube-apiserver.js";
import { eventsOf, rightsIn } from "./harness/peers/kube-objects.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { startWatch } from "./harness/xdskit/watched.js";
import { startServe } from "./harness/xdskit/xdskit.js";

const cluster = (name: string, timeout = "1s") =>
  `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: ${timeout}\n`;
const json = (name: string) =>
  JSON.stringify({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name, connect_timeout: "1s" });
/** A listener whose route names the cluster. */
const listener = (name: string, port: number) => `
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: ${name}
address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
filter_chains:
  - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: ${name}
`;

const configMap = (name: string, data: Readonly<Record<string, string>>, folder?: string) => {
  const annotations = folder === undefined ? {} : { "xdskit.github.io/folder": folder };
  const metadata = { name, namespace: "shop", labels: { serve: "true" }, annotations };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
};

const settings = `groups:
- { name: edge, match: { id: "edge-*" }, folders: [edge] }
- { name: rest, match: {}, folders: [rest] }
`;

test("ConfigMaps of a real API server are folders", { timeout: 300_000 }, async (t) => {
  const programs = apiserverPrograms(t);
  if (Object.values(programs).includes("")) return;
  const scene = await createScene(t);
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...rightsIn("services.yaml"));
  const fixed = (name: string) => ({
    ...configMap("fixed", { "fixed.json": json(name) }),
    immutable: true,
    binaryData: { "binary.yaml": Buffer.from(cluster("binary")).toString("base64") },
  });
  const unlabelled = configMap("other", { "other.yaml": cluster("other") });
  await api.put(
    configMap("all", { "a.yaml": cluster("a"), "README.md": "no resource" }),
    fixed("fixed"),
    configMap("edge", { "edge.yaml": cluster("edge") }, "edge"),
    { ...unlabelled, metadata: { ...unlabelled.metadata, labels: {} } },
  );
  const file = await movedFiles(scene.directory).put("own.yaml", settings);
  const server = startServe(scene, undefined, {
    args: [
      ...["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--namespace", "shop", "--write-events"],
      ...["--config-maps", "serve=true", "--settings", file, "--state", join(scene.directory, "state")],
    ],
  });
  let grpc = "";
  /** The clusters of a node, sorted. */
  const clusters = async (node: string) => {
    const { out } = await runXdskit(
      scene,
      "get",
      "--server",
      grpc,
      "--node-id",
      node,
      "--type",
      "cluster",
      "-o",
      "name",
    );
    return out.replaceAll("cluster/", "").split("\n").sort().join();
  };
  const become = (node: string, expected: string) =>
    eventually(`clusters ${expected}`, async () => (await clusters(node)) === expected, { withinMs: 20_000 });
  const status = async () => (await runXdskit(scene, "status", "--server", grpc)).out;
  /** `NAME MESSAGE` of each Event. */
  const told = async () =>
    ((await eventsOf(api, "shop")) ?? []).map(({ involvedObject, message }) => `${involvedObject.name} ${message}`);

  const begun = await scene.step(
    "they are read with a right of their own, each key for the groups of its folder",
    async () => {
      await eventually("the role that is missing", () => /configmaps\.yaml/.test(server.stderr.join("\n")), {
        withinMs: 20_000,
      });
      await api.put(...rightsIn("configmaps.yaml"));
      [, grpc = ""] = await server.line(/^grpc listening on (\S+)$/, 60_000);
      assert.equal(await clusters("edge-1"), "a,binary,edge,fixed");
      assert.equal(await clusters("rest"), "a,binary,fixed");
    },
  );
  if (!begun) return;

  await scene.step("one with an error keeps what it had, and its Event and the status say where it is", async () => {
    await api.put(
      configMap("edge", { "edge.yaml": cluster("edge2"), "more.yaml": `${cluster("more")}bad: 1\n` }, "edge"),
    );
    await eventually(
      "the Event",
      async () => (await told()).includes("edge more.yaml:4 bad: envoy.config.cluster.v3.Cluster has no such field"),
      { withinMs: 20_000 },
    );
    assert.match(await status(), /kubernetes has errors.*ConfigMap shop\/edge\/more\.yaml:4:1: cluster "more", bad: /);
    await api.put(configMap("all", { "a.yaml": cluster("a2") }));
    await become("edge-1", "a2,binary,edge,fixed");
    const [event] = (await eventsOf(api, "shop")) ?? [];
    const { metadata } = JSON.parse((await api.ask("GET", "/api/v1/namespaces/shop/configmaps/edge")).body);
    assert.deepEqual([event?.involvedObject.kind, event?.involvedObject.uid], ["ConfigMap", metadata.uid]);
    await api.put(configMap("edge", { "edge.yaml": cluster("edge2") }, "edge"));
    await become("edge-1", "a2,binary,edge2,fixed");
    await eventually("no error", async () => !/has errors/.test(await status()), { withinMs: 20_000 });
  });

  await scene.step("two with one resource change nothing, and each Event names the other one", async () => {
    await api.put(configMap("thief", { "t.yaml": `${cluster("a2", "9s")}---\n${cluster("own")}` }));
    const expected = [
      "all a.yaml:1: the same name is also in ConfigMap shop/thief/t.yaml:1",
      "thief t.yaml:1: the same name is also in ConfigMap shop/all/a.yaml:1",
    ];
    await eventually(
      "both Events",
      async () => {
        const events = await told();
        return expected.every((one) => events.includes(one));
      },
      { withinMs: 20_000 },
    );
    assert.equal(await clusters("rest"), "a2,binary,fixed");
    await api.put(configMap("thief", { "t.yaml": cluster("own") }));
    await become("rest", "a2,binary,fixed,own");
  });

  await scene.step("one that is immutable is replaced by another one of its name", async () => {
    await api.remove(fixed("fixed"));
    await api.put(fixed("fixed2"));
    await become("rest", "a2,binary,fixed2,own");
  });

  await scene.step("what one had goes in order: the listener before its cluster", async () => {
    const both = configMap("tcp", { "cluster.yaml": cluster("tcp"), "listener.yaml": listener("tcp", 10_000) });
    await api.put(both);
    await become("rest", "a2,binary,fixed2,own,tcp");
    const watch = startWatch(
      scene,
      ...["--server", grpc, "--ads", "--variant", "delta", "--node-id", "rest"],
      ...["--type", "cluster", "--also", "listener=*"],
    );
    const says = (wanted: string, ...names: readonly string[]) =>
      eventually(
        `${wanted} of ${names}`,
        () => {
          const said = watch.events().filter(({ event }) => event === wanted);
          return names.every((one) => said.some(({ type, name }) => `${type} ${name}` === one));
        },
        { withinMs: 30_000 },
      );
    await says("upsert", "cluster tcp", "listener tcp");
    await api.remove(both);
    await says("delete", "cluster tcp");
    const gone = watch
      .events()
      .filter(({ event }) => event === "delete")
      .map(({ type, name }) => `${type} ${name}`);
    assert.deepEqual(gone, ["listener tcp", "cluster tcp"]);
  });

  await scene.step("one that others name stays, also if it is deleted, and its Event says who does", async () => {
    const named = configMap("named", { "cluster.yaml": cluster("tcp") });
    const naming = configMap("naming", { "listener.yaml": listener("tcp", 10_000) });
    await api.put(named, naming);
    await become("rest", "a2,binary,fixed2,own,tcp");
    await api.remove(named);
    const expected = /^named ConfigMap shop\/naming\/listener\.yaml:\d+: names cluster "tcp", which this change takes /;
    await eventually("the Event", async () => (await told()).some((one) => expected.test(one)), { withinMs: 20_000 });
    assert.match(await status(), /kubernetes has errors.*ConfigMap shop\/naming\/listener\.yaml:\d+/);
    await api.put(configMap("all", { "a.yaml": cluster("a3") }));
    await become("rest", "a3,binary,fixed2,own,tcp");
    await api.put(configMap("all", { "a.yaml": cluster("a2") }));
    await api.remove(naming);
    await become("rest", "a2,binary,fixed2,own");
    await eventually("no error", async () => !/has errors/.test(await status()), { withinMs: 20_000 });
  });

  await scene.step("a start waits while one has errors, and says which one", async () => {
    await api.put(configMap("edge", { "edge.yaml": "nothing: 1\n" }, "edge"));
    await server.stop();
    const again = startServe(scene, undefined, {
      args: [
        ...["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--namespace", "shop"],
        ...["--config-maps", "serve=true", "--settings", file, "--state", "off"],
      ],
    });
    await eventually("the error", () => again.stderr.join("\n").includes("ConfigMap shop/edge/edge.yaml:1"), {
      withinMs: 20_000,
    });
    await quiet(1_000);
    assert.ok(!again.stdout.some((line) => line.startsWith("grpc listening")));
    // A rollout stops there.
    const [, admin = ""] = await again.line(/^admin listening on (\S+)$/, 5_000);
    assert.equal((await fetch(`http://${admin}/readyz`)).status, 503);
    await api.put(configMap("edge", { "edge.yaml": cluster("edge3") }, "edge"));
    [, grpc = ""] = await again.line(/^grpc listening on (\S+)$/, 30_000);
    assert.equal(await clusters("edge-1"), "a2,binary,edge3,fixed2,own");
  });
});
