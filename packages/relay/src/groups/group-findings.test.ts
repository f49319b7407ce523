import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Finding, maxFindings, resourceTypes } from "@xdskit/api";
import { becomes, cluster, clusterOf, resourcesOf, route, see, seeOne, withStage } from "../testing/relayed.js";
import { createGroupFindings } from "./group-findings.js";

const [clusterType, routeType] = [resourceTypes.find("cluster")!, resourceTypes.find("route")!];
const listener = { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "l", apiListener: {} };
const finding = (more: Partial<Finding>): Finding => {
  return { code: "XDSKIT_UPDATE_REJECTED", severity: "error", message: "bad", ...more };
};

describe("findings about a resource of an origin", () => {
  it("are replaced by newer ones, and end when its next content is served", () => {
    const findings = createGroupFindings();
    findings.report([finding({ type: "cluster", resource: "a" }), finding({ type: "cluster", resource: "b" })]);
    findings.report([finding({ type: "cluster", resource: "a", message: "worse" })]);
    findings.served(routeType, "a");
    assert.deepEqual(
      findings.all.map(({ resource, message }) => [resource, message]),
      [
        ["b", "bad"],
        ["a", "worse"],
      ],
    );
    findings.served(clusterType, "a");
    findings.served(clusterType, "b");
    assert.deepEqual(findings.all, []);
  });

  it("end with the next change that is served if they name no resource, but not those about the cache", () => {
    const findings = createGroupFindings();
    findings.report([finding({}), finding({ type: "cluster" }), finding({ type: "cluster", file: "cluster.pb" })]);
    findings.served(clusterType, "a");
    assert.deepEqual(
      findings.all.map(({ file }) => file),
      ["cluster.pb"],
    );
    findings.cached(clusterType);
    assert.deepEqual(findings.all, []);
  });

  it("are limited in number: the newest stay", () => {
    const findings = createGroupFindings();
    for (let number = 0; number < maxFindings * 3; number++)
      findings.report([finding({ type: "cluster", resource: `c${number}` })]);
    assert.equal(findings.all.length, maxFindings);
    assert.equal(findings.all.at(-1)?.resource, `c${maxFindings * 3 - 1}`);
  });
});

describe("the findings of a relay", () => {
  it("warn of a resource that is served although it names something missing, until its next content", () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, address } = await origin({ ordering: false });
      server.config.set(resourcesOf(cluster("a"), route("r", "a")));
      const relayed = await relay({ kind: "grpc", address }, { holdMs: 100 });
      const found = () => relayed.relay.groups[0]?.findings.map(({ resource, severity }) => [resource, severity]);
      const target = seeOne(client(relayed.address), "route", "r", clusterOf);
      await becomes(target, "a");
      server.config.update({ upsert: resourcesOf(route("r", "gone")) });
      await becomes(() => [target(), found()], ["gone", [["r", "warning"]]]);
      server.config.update({ upsert: resourcesOf(route("r", "a")) });
      await becomes(() => [target(), found()], ["a", []]);
    }));

  it("report a damaged file of the cache until there is a new one", () =>
    withStage(async ({ origin, relay, client, directory }) => {
      const { server, address } = await origin();
      server.config.set(resourcesOf(cluster("a"), listener));
      const cache = join(directory, "cache");
      const before = await relay({ kind: "grpc", address }, { cache });
      await before.relay.close({ timeoutMs: 100 });
      const path = join(cache, "all", "cluster.pb");
      const written = await readFile(path);
      await writeFile(path, written.subarray(0, written.length - 1));
      await server.close({ timeoutMs: 100 });
      const after = await relay({ kind: "grpc", address }, { cache });
      const found = () => after.relay.groups[0]?.findings.map(({ severity, type }) => [severity, type]);
      assert.deepEqual(found()?.at(-1), ["error", "cluster"]);
      const again = await origin({}, address);
      again.server.config.set(resourcesOf(cluster("a"), listener));
      const clusters = see(client(after.address), "cluster");
      await becomes(() => [clusters.names(), found()], ["a", []]);
    }));
});
