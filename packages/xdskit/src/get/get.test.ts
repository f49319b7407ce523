import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, readResources } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { LbEndpointCollectionSchema, LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { createServer, type XdsServer } from "@xdskit/server";
import { xdskitEnds } from "../testing/command.js";
import { inProcess } from "../testing/in-process.js";
import { cluster, clusterUrl, deltaResponse, packed, packedCluster, sotwResponse } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";

async function withServer(run: (server: XdsServer, address: string) => Promise<void>): Promise<void> {
  const server = createServer();
  try {
    await run(server, (await server.listen({ grpc: "127.0.0.1:0" })).grpc);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

/** A list as gRPC's clients take it: its entries have no names. */
function endpointList(name: string, size: number) {
  const socket = { address: "10.0.0.1", portSpecifier: { case: "portValue", value: 80 } } as const;
  const address = { address: { case: "socketAddress", value: socket } } as const;
  const one = create(LbEndpointSchema, { hostIdentifier: { case: "endpoint", value: { address } } });
  const value = { resource: anyPack(LbEndpointSchema, one) };
  const entries = Array.from({ length: size }, () => ({ resourceSpecifier: { case: "inlineEntry", value } as const }));
  return createResource(create(LbEndpointCollectionSchema, { entries }), { name });
}

/** Runs it to its end in this process. */
async function get(...args: readonly string[]) {
  const running = inProcess(["get", "--type", "cluster", ...args]);
  const status = await running.status;
  return { status, out: running.out(), err: running.err() };
}

describe("xdskit get", () => {
  it("prints documents that can be served again", () =>
    withServer(async (server, address) => {
      server.config.set([createResource(cluster("a"), { aliases: ["b"] }), cluster("c")]);
      const { status, out, err } = await xdskitEnds("get", "--type", "cluster", "--server", address);
      assert.deepEqual([status, err], [0, ""]);
      const { resources, findings } = readResources({ path: "some.yaml", bytes: Buffer.from(out) }, {});
      assert.deepEqual(findings, []);
      assert.deepEqual(
        resources.map(({ resource }) => [resource.name, [...resource.aliases]]),
        [
          ["a", ["b"]],
          ["c", []],
        ],
      );
    }));

  for (const variant of ["sotw", "delta"]) {
    for (const ads of [[], ["--ads"]]) {
      it(`shows by its status whether every name exists, ${variant} ${ads}`, () =>
        withServer(async (server, address) => {
          server.config.set([cluster("a"), cluster("b"), cluster("c")]);
          const how = ["--server", address, "--variant", variant, ...ads, "--output", "name"];
          assert.deepEqual(await get("a", "b", ...how), { status: 0, out: "cluster/a\ncluster/b\n", err: "" });
          const missing = await get(...how, "a", "no");
          assert.deepEqual([missing.status, missing.out], [1, "cluster/a\n"]);
          assert.match(missing.err, /^xdskit get: cluster "no" does not exist/);
          assert.deepEqual(await get(...how), { status: 0, out: "cluster/a\ncluster/b\ncluster/c\n", err: "" });
        }));

      it(`ends with the first response if there are no names, even an empty one, ${variant} ${ads}`, () =>
        withServer(async (server, address) => {
          server.config.set([]);
          const how = ["--server", address, "--variant", variant, ...ads];
          assert.deepEqual(await get(...how), { status: 0, out: "", err: "" });
        }));
    }
  }

  for (const variant of ["sotw", "delta"]) {
    it(`reads a list of endpoints by its name, over ADS, and writes a file of it, ${variant}`, () =>
      withServer(async (server, address) => {
        const list = "locality-endpoint-collection";
        server.config.set(["full", "empty"].map((name) => endpointList(name, name === "full" ? 1 : 0)));
        const how = ["--server", address, "--variant", variant, "--ads", "--validate", "full"];
        const running = inProcess(["get", list, "full", "empty", ...how]);
        assert.deepEqual([await running.status, running.err()], [0, ""]);
        const { resources, findings } = readResources({ path: "a.yaml", bytes: Buffer.from(running.out()) }, {});
        assert.deepEqual(findings, []);
        const entries = ({ resource: { name, body } }: (typeof resources)[number]) =>
          `${name} ${fromBinary(LbEndpointCollectionSchema, body).entries.length}`;
        assert.deepEqual(resources.map(entries).sort(), ["empty 0", "full 1"]);
      }));
  }

  it("takes the first word as the type without --type, and all words as names with it", () =>
    withServer(async (server, address) => {
      server.config.set([cluster("a"), cluster("cluster")]);
      const words = async (...args: readonly string[]) => {
        const running = inProcess(["get", ...args, "--server", address, "--output", "name"]);
        return [await running.status, running.out().trim().split("\n").sort().join(" ")];
      };
      assert.deepEqual(await words("cluster", "a"), [0, "cluster/a"]);
      assert.deepEqual(await words("cds"), [0, "cluster/a cluster/cluster"]);
      assert.deepEqual(await words("type.googleapis.com/envoy.config.cluster.v3.Cluster", "a"), [0, "cluster/a"]);
      assert.deepEqual(await words("cluster", "cluster"), [0, "cluster/cluster"]);
      assert.deepEqual(await words("cluster", "--type", "cds", "a"), [0, "cluster/a cluster/cluster"]);
    }));

  it("shows resources that break a rule, and malformed ones only on request", async () => {
    const listOf = (...more: readonly Any[]) => sotwResponse("1", [packedCluster("good"), ...more]);
    // A name, and a field of the wrong type.
    const garbage = packed(clusterUrl, Uint8Array.of(0x0a, 1, 0x78, 0x12, 1, 0xff, 0xe2, 0x01, 1, 0xff));
    await using server = await oddServer((stream, index) => {
      if (index === 0) stream.send(listOf(packedCluster("timeless", 0), garbage));
    });
    const how = ["--server", server.address, "--variant", "sotw", "--output", "name"];
    const shown = async (...more: readonly string[]) => {
      const { status, out, err } = await get(...how, ...more);
      return [
        status,
        out.trim().split("\n").join(" "),
        err.split("\n").filter((line) => line.includes("rejected")).length,
      ];
    };
    assert.deepEqual(await shown("--validate", "full"), [1, "cluster/good", 1]);
    assert.deepEqual(await shown(), [1, "cluster/good cluster/timeless", 1]);
    assert.deepEqual(await shown("--validate", "types"), [1, "cluster/good cluster/timeless", 1]);
    assert.deepEqual(await shown("--validate", "off"), [0, "cluster/good cluster/timeless cluster/x", 0]);
    const yaml = await get(...how, "--validate", "off", "--output", "yaml");
    assert.match(yaml.out, /its content cannot be shown: .*not a serialized/);
  });

  it("says that its output without secrets cannot be served", () =>
    withServer(async (server, address) => {
      const path = "some.json";
      const typeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
      const secret = { "@type": typeUrl, name: "own", generic_secret: { secret: { inline_string: "S3CR3T" } } };
      const { resources } = readResources({ path, bytes: Buffer.from(JSON.stringify(secret)) });
      server.config.set([cluster("a"), ...resources.map(({ resource }) => resource)]);
      const got = async (...args: readonly string[]) => {
        const running = inProcess(["get", ...args, "--server", address]);
        await running.status;
        return { out: running.out(), err: running.err() };
      };
      const left = await got("secret", "own");
      assert.match(
        left.err,
        /^xdskit get: the secrets of 1 resource are left out, .* cannot be served .*--show-secrets/,
      );
      const { findings } = readResources({ path: "some.yaml", bytes: Buffer.from(left.out) });
      assert.equal(findings[0]?.code, "XDSKIT_SECRET_LEFT_OUT");
      const shown = await got("secret", "own", "--show-secrets");
      assert.deepEqual([shown.err, shown.out.includes("S3CR3T")], ["", true]);
      assert.equal((await got("cluster", "a")).err, "");
    }));

  it("prints and names unknown content if secrets are shown, so that the output can be served", () =>
    withServer(async (server, address) => {
      const thresholds = { $unknown: [{ no: 9_999, wireType: 2, data: Uint8Array.of(6, ...Buffer.from("S3CR3T")) }] };
      const made = create(ClusterSchema, { name: "a", circuitBreakers: { thresholds: [{}] } });
      Object.assign(made.circuitBreakers?.thresholds[0] ?? assert.fail(), thresholds);
      server.config.set([made]);
      const field = 'cluster "a", circuit_breakers.thresholds[0]: field 9999: JSON has no form for it';
      for (const secrets of [false, true]) {
        const { out, err } = await get("a", "--server", address, ...(secrets ? ["--show-secrets"] : []));
        assert.ok(err.startsWith(`xdskit get: warning: ${field}`), err);
        assert.equal(err.includes("cannot be served"), !secrets, err);
        const { findings, resources } = readResources({ path: "a.yaml", bytes: Buffer.from(out) });
        if (secrets) assert.deepEqual(resources[0]?.resource, createResource(made));
        else assert.equal(findings[0]?.code, "XDSKIT_SECRET_LEFT_OUT");
      }
    }));

  it("waits for every requested type", () =>
    withServer(async (server, address) => {
      server.config.set([cluster("a")]);
      const how = ["--server", address, "--output", "name", "--also", "endpoint=a"];
      const { status, out, err } = await get(...how);
      assert.deepEqual([status, out], [1, "cluster/a\n"]);
      assert.match(err, /endpoint "a" does not exist/);
    }));

  it("finds a resource by an alias", async () => {
    await using server = await oddServer((stream, index) => {
      const entry = { name: "real", aliases: ["alias"], resource: packedCluster("real") };
      if (index === 0) stream.send(deltaResponse("1", [entry]));
    });
    const { status, out } = await get("alias", "--server", server.address, "--output", "name");
    assert.deepEqual([status, out], [0, "cluster/real\n"]);
  });

  it("ends with 1 if the requested resource is rejected, and says why", async () => {
    await using server = await oddServer((stream, index) => {
      if (index === 0) stream.send(sotwResponse("1", [packedCluster("bad", 0), packedCluster("good")]));
    });
    for (const names of [["bad"], ["bad", "good"], []]) {
      const how = ["--server", server.address, "--variant", "sotw", "--validate", "full"];
      const { status, err } = await get(...names, ...how);
      assert.equal(status, 1, `${names}`);
      assert.match(err, /cluster "bad" rejected: .*connect_timeout/);
    }
  });

  it("gives up at once if every server refuses, and says what to try", async () => {
    await using one = await oddServer((stream) => stream.end(12, "no such method"));
    await using other = await oddServer((stream) => stream.end(7, "not for you"));
    const { status, err } = await get("--server", one.address, "--server", other.address, "--timeout", "1h");
    assert.equal(status, 1);
    assert.match(err, /no such method.*try --variant sotw/);
    assert.match(err, /not for you.*\[/);
  });

  it("takes timeouts beyond the limit of Node's timers", () =>
    withServer(async (server, address) => {
      server.config.set([cluster("a")]);
      const ended = await get("a", "--server", address, "--timeout", "1000h", "--output", "name");
      assert.deepEqual(ended, { status: 0, out: "cluster/a\n", err: "" });
    }));

  it("gives up after --timeout, and lists the unanswered names", async () => {
    const { status, out, err } = await get("a", "b", "--server", "127.0.0.1:1", "--timeout", "500ms");
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /connect ECONNREFUSED/);
    assert.match(err, /no answer within 0\.5 s about cluster "a", cluster "b"\n$/);
  });
});
