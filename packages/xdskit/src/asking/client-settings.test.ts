import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeSettings } from "@xdskit/client";
import { grpcBootstrap } from "../bootstrap/grpc.js";
import { testFolder } from "../testing/folder.js";
import { readClientSettings } from "./client-settings.js";
import type { WatchOptions } from "./watch-options.js";

const usual: WatchOptions = { command: "watch", type: "cluster", names: [], output: "yaml", timeoutMs: undefined };
const read = (options: Partial<WatchOptions>) => readClientSettings({ ...usual, ...options });

async function asked(options: Partial<WatchOptions>) {
  const { wanted } = await read(options);
  return wanted.map(({ type, names }) => [type.name, ...names]);
}

describe("the subscriptions in the arguments", () => {
  it("cover all of a type without names, and take * as a name", async () => {
    assert.deepEqual(await asked({}), [["cluster", "*"]]);
    assert.deepEqual(await asked({ type: "eds", names: ["a", "*", "a"] }), [["endpoint", "a", "*"]]);
  });

  it("may add more types, with all resources or names, and join those of one type", async () => {
    const also = ["endpoint=a,b", "endpoint=c", "lds", "route=", "rds=*", "type.googleapis.com/own.Thing=x=1"];
    assert.deepEqual(await asked({ names: ["web"], also: [...also, "cluster=api"] }), [
      ["cluster", "web", "api"],
      ["endpoint", "a", "b", "c"],
      ["listener", "*"],
      ["route", "*"],
      ["type.googleapis.com/own.Thing", "x=1"],
    ]);
  });

  it("refuse an unknown type name", async () => {
    await assert.rejects(read({ type: "clutser" }), { code: "XDSKIT_TYPE_NAME_UNKNOWN" });
    await assert.rejects(read({ also: ["=a"] }), { code: "XDSKIT_TYPE_NAME_UNKNOWN" });
  });
});

describe("the servers in the arguments", () => {
  it("default to this machine's server, with the type's own incremental service", async () => {
    const { client } = await read({});
    const tls = { tls: undefined, tokenFile: undefined };
    const server = { kind: "grpc", address: "127.0.0.1:18000", variant: "delta", aggregated: false, api: "v3" };
    assert.deepEqual(client.servers, [{ ...server, ...tls }]);
    assert.deepEqual(client.node, { id: "xdskit" });
  });

  it("may be several in order, on ADS for more than one type, as a node", async () => {
    await using folder = await testFolder({ token: "secret" });
    const tokenFile = `${folder.path}/token`;
    const { client } = await read({
      server: ["a:1", "b:2"],
      also: ["lds"],
      variant: "sotw",
      tlsServerName: "xds",
      tokenFile,
      nodeId: "n",
      nodeCluster: "c",
      metadata: { stage: "prod" },
    });
    const tls = { caFile: undefined, certificateFile: undefined, keyFile: undefined, serverName: "xds" };
    const both = { kind: "grpc", variant: "sotw", aggregated: true, api: "v3", tls, tokenFile };
    assert.deepEqual(client.servers, [
      { ...both, address: "a:1" },
      { ...both, address: "b:2" },
    ]);
    assert.deepEqual(client.node, { id: "n", cluster: "c", metadata: { stage: "prod" } });
  });

  it("may be polls or files", async () => {
    const polled = await read({ rest: ["http://a"], refreshDelay: 500, api: "v2" });
    const rest = {
      kind: "rest",
      url: "http://a",
      tls: undefined,
      tokenFile: undefined,
      api: "v2",
      refreshDelayMs: 500,
    };
    assert.deepEqual(polled.client.servers, [rest]);
    const followed = await read({ path: "cds.yaml", watchedDirectory: "dir" });
    const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const files = [{ type, path: "cds.yaml", watchedDirectory: "dir" }];
    assert.deepEqual(followed.client.servers, [{ kind: "files", files }]);
  });

  it("may come from a bootstrap, with its node by default", async () => {
    await using folder = await testFolder();
    const nodeOptions = { nodeId: "n", nodeCluster: "c" };
    const servers = [{ host: "127.0.0.1", port: 7 }];
    const bootstrap = await folder.write("grpc.json", grpcBootstrap({ servers, tls: undefined, ...nodeOptions }));
    const { client } = await read({ bootstrap, nodeId: "other" });
    const [first] = client.servers ?? [];
    assert.equal(typeof first === "object" && first.kind === "grpc" && first.address, "127.0.0.1:7");
    const { id, cluster } = client.node as NodeSettings;
    assert.deepEqual([id, cluster], ["other", "c"]);
    await assert.rejects(read({ bootstrap: `${folder.path}/none` }), { code: "XDSKIT_FILE_UNREADABLE" });
  });

  it("are refused if there is no such service", async () => {
    const refused: readonly (readonly [Partial<WatchOptions>, RegExp])[] = [
      [{ type: "virtual-host", variant: "sotw" }, /has no method for sotw: add --ads, or take --variant delta/],
      [{ type: "locality-endpoint", api: "v2", ads: true }, /v2 has no locality-endpoint/],
      [{ type: "virtual-host", rest: ["http://a"] }, /there is no REST method for virtual-host/],
    ];
    for (const [options, message] of refused) await assert.rejects(read(options), message);
    for (const type of ["type.googleapis.com/own.Thing", "istio.io/debug/syncz"]) {
      const [server] = (await read({ type })).client.servers ?? [];
      assert.equal(typeof server === "object" && server.kind === "grpc" && server.aggregated, true);
    }
    await read({ type: "virtual-host" });
  });
});
