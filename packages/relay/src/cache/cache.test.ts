import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { keptResource } from "@xdskit/protocol";
import { becomes, cluster, endpoints, resourcesOf, type Stage, see, seeOne, withStage } from "../testing/relayed.js";
import { readCacheFile, writeCacheFile } from "./cache-file.js";

const clusterType = resourceTypes.find("cluster")!;
const listener = { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "l", apiListener: {} };

/** A field that no message of today has: number 9999, a varint. */
const unknownField = Uint8Array.of(0xf8, 0xf0, 0x04, 0x07);

function keptCluster(name: string, more: Uint8Array = new Uint8Array()) {
  const [resource] = resourcesOf(cluster(name));
  const value = Buffer.concat([resource?.body ?? new Uint8Array(), more]);
  return keptResource({
    type: clusterType,
    name,
    version: "v",
    aliases: [],
    ttl: undefined,
    typeUrl: clusterType.typeUrl,
    value,
  });
}

const fileOf = (...resources: Parameters<typeof writeCacheFile>[0]["resources"]) =>
  writeCacheFile({ type: clusterType, resources, version: "s", isAll: true, origin: "o" });

describe("a file of the cache", () => {
  it("holds the bytes that the origin sent, with fields that nobody here knows", () => {
    const written = fileOf(keptCluster("a", unknownField), keptCluster("b"));
    const { resources, version, isAll, origin, findings } = readCacheFile(written, clusterType, undefined);
    assert.deepEqual([resources.map(({ name }) => name), findings], [["a", "b"], []]);
    assert.deepEqual([version, isAll, origin], ["s", true, "o"]);
    assert.deepEqual(resources[0]?.value, keptCluster("a", unknownField).value);
    assert.equal(Buffer.from(resources[0]?.resource().body ?? []).includes(Buffer.from(unknownField)), true);
  });

  it("is a DiscoveryResponse for other tools", () => {
    const { nonce, typeUrl, versionInfo } = fromBinary(DiscoveryResponseSchema, fileOf(keptCluster("a")));
    assert.match(nonce, /^xdskit relay cache, format 1, sha256 [0-9a-f]{64}$/);
    assert.deepEqual([typeUrl, versionInfo], [clusterType.typeUrl, "s"]);
  });

  it("has no version if a resource with a TTL is left out", () => {
    const mortal = keptResource({ ...partsOf(keptCluster("b")), ttl: 1_000 });
    const { resources, version } = readCacheFile(fileOf(keptCluster("a"), mortal), clusterType, undefined);
    assert.deepEqual([resources.map(({ name }) => name), version], [["a"], ""]);
  });

  it("is refused wherever a byte of it is another one, and wherever it ends too early", () => {
    const written = fileOf(keptCluster("a"));
    for (let at = 0; at < written.length; at++) {
      const changed = Uint8Array.from(written);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => readCacheFile(changed, clusterType, undefined), { code: "XDSKIT_CACHE" }, `byte ${at}`);
      assert.throws(() => readCacheFile(written.subarray(0, at), clusterType, undefined), { code: "XDSKIT_CACHE" });
    }
  });
});

/** A folder of the cache as a relay leaves it. */
async function leaveCache({ origin, relay, directory }: Stage): Promise<{ cache: string; address: string }> {
  const { server, address } = await origin();
  server.config.set(resourcesOf(cluster("a"), cluster("b"), listener, endpoints("a", 1)));
  const cache = join(directory, "cache");
  const before = await relay({ kind: "grpc", address }, { cache });
  await before.relay.close({ timeoutMs: 100 });
  await server.close({ timeoutMs: 100 });
  return { cache: join(cache, "all"), address };
}

const damages: Readonly<Record<string, (written: Buffer) => Uint8Array>> = {
  "is cut off": (written) => written.subarray(0, written.length - 10),
  "is empty": () => new Uint8Array(),
  "is garbage": () => Buffer.from("not a cache at all"),
  "holds a resource that no longer validates": () =>
    fileOf(keptCluster("a"), keptResource({ ...partsOf(keptCluster("b")), value: Uint8Array.of(0x22, 0x02, 0x08) })),
  "is of a newer format": (written) =>
    Buffer.from(written.toString("latin1").replace("format 1", "format 2"), "latin1"),
};

function partsOf({ type, name, version, aliases, ttl, typeUrl, value }: ReturnType<typeof keptResource>) {
  return { type, name, version, aliases, ttl, typeUrl, value };
}

describe("a cache whose clusters cannot be believed", () => {
  for (const [what, damage] of Object.entries(damages)) {
    it(`is not taken for all that there is: the file ${what}`, () =>
      withStage(async (stage) => {
        const { cache, address } = await leaveCache(stage);
        const path = join(cache, "cluster.pb");
        const damaged = damage(await readFile(path));
        await writeFile(path, damaged);
        const upstream = { kind: "grpc", address } as const;
        const relayed = await stage.relay(upstream, { cache: join(cache, "..") });
        const edge = stage.client(relayed.address);
        let told = 0;
        edge.watchCollection("cluster", "*", {
          onChanged() {
            told += 1;
          },
        });
        const listeners = see(edge, "listener");
        // Clusters were asked for before, on the same stream.
        await becomes(listeners.names, "l");
        const polled = await fetch(`http://${relayed.rest}/v3/discovery:clusters`, {
          method: "POST",
          body: '{"node":{"id":"rest"}}',
        });
        assert.deepEqual([told, polled.status], [0, 503]);

        // The file was set aside unchanged.
        const aside = (await readdir(cache)).filter((name) => name.startsWith("cluster"));
        assert.match(aside.join(), /^cluster\.pb\.set-aside-[0-9TZ]+$/);
        assert.deepEqual(await readFile(join(cache, aside[0] ?? "")), Buffer.from(damaged));
        const said = stage.findings.filter(({ code }) => code === "XDSKIT_CACHE").at(-1);
        assert.match(
          said?.message ?? "",
          /^it was set aside as cluster\.pb\.set-aside-.* clients that ask for all of cluster get no answer/,
        );
        if (what.includes("newer")) assert.match(stage.findings[0]?.message ?? "", /newer xdskit .* format 2/);

        // A second start finds no file, and knows as little.
        await relayed.relay.close({ timeoutMs: 100 });
        const again = await stage.relay(upstream, { cache: join(cache, "..") });
        assert.equal(again.relay.groups[0]?.isKnown, false);
        const late = stage.client(again.address);
        const clusters = see(late, "cluster");
        const second = await stage.origin({}, address);
        second.server.config.set(resourcesOf(cluster("b"), cluster("c"), listener));
        await becomes(clusters.names, "b,c");
        await again.relay.groups[0]?.known;
        await again.relay.close({ timeoutMs: 100 });
        assert.equal((await stat(path)).mode & 0o777, 0o600);
        const { resources } = readCacheFile(await readFile(path), clusterType, undefined);
        assert.deepEqual(resources.map(({ name }) => name).sort(), ["b", "c"]);
        assert.deepEqual(await readFile(join(cache, aside[0] ?? "")), Buffer.from(damaged));
      }));
  }

  it("keeps names that can be believed for those who ask by name", () =>
    withStage(async (stage) => {
      const { cache, address } = await leaveCache(stage);
      await writeFile(join(cache, "cluster.pb"), damages["holds a resource that no longer validates"]!(Buffer.of()));
      const relayed = await stage.relay({ kind: "grpc", address }, { cache: join(cache, "..") });
      const edge = stage.client(relayed.address);
      await becomes(
        seeOne(edge, "cluster", "a", ({ name }: { name: string }) => name),
        "a",
      );
    }));
});
