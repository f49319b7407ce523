import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createServer } from "@xdskit/server";
import { eventually } from "../testing/command.js";
import { inProcess, type PrintedEvent } from "../testing/in-process.js";
import { cluster, deltaResponse, packed, packedCluster, sotwResponse } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";

const watch = (...args: readonly string[]) => inProcess(["watch", "--output", "jsonl", "--type", "cluster", ...args]);
const is = (event: string, name?: string) => (one: PrintedEvent) => one.event === event && one.name === name;
const request = (bytes: Uint8Array | undefined) => fromBinary(DiscoveryRequestSchema, bytes ?? new Uint8Array());

describe("xdskit watch of a faulty server", () => {
  it("reports its rejections with the name, and goes on", async () => {
    await using server = await oddServer((stream, index) => {
      if (index === 0) stream.send(sotwResponse("1", [packedCluster("good")]));
      if (index === 1) stream.send(sotwResponse("2", [packedCluster("bad", 0), packedCluster("good", 2)]));
      if (index === 2) stream.send(sotwResponse("3", [packedCluster("good", 3)]));
    });
    await using watching = watch("--server", server.address, "--variant", "sotw", "--validate", "full");
    const rejected = await watching.seen((event) => event.nack === true);
    assert.deepEqual([rejected.event, rejected.type, rejected.name], ["error", "cluster", "bad"]);
    assert.match(String(rejected.message), /connect_timeout/);
    assert.match(String(rejected.code), /^XDSKIT_/);
    const third = await watching.seen(({ version, event }) => event === "upsert" && version === "3");
    assert.equal(third.name, "good");
    await eventually(
      async () => server.streams[0]?.requests.length,
      (count) => count === 4,
    );
    const nack = request(server.streams[0]?.requests[2]);
    assert.deepEqual([nack.versionInfo, nack.responseNonce], ["1", "n2"]);
    assert.match(nack.errorDetail?.message ?? "", /bad/);
  });

  it("says that a name comes twice, and that a resource is of another type", async () => {
    const listener = anyPack(ListenerSchema, create(ListenerSchema, { name: "l" }));
    await using server = await oddServer((stream, index) => {
      if (index === 0) stream.send(sotwResponse("1", [packedCluster("a"), packedCluster("a", 2)]));
      if (index === 1) stream.send(sotwResponse("2", [packedCluster("b"), listener]));
      if (index === 2) stream.send(sotwResponse("3", [packedCluster("c")]));
    });
    await using watching = watch("--server", server.address, "--variant", "sotw");
    await watching.seen(is("upsert", "c"));
    const rejected = watching.events().filter(({ nack }) => nack === true);
    assert.deepEqual(
      rejected.map(({ version }) => version),
      ["1", "2"],
    );
    assert.equal(rejected[0]?.name, "a");
  });

  it("says that a stream was refused, and why", async () => {
    await using server = await oddServer((stream) => stream.end(7, "not for you"));
    await using watching = watch("--server", server.address);
    const error = await watching.seen(({ event }) => event === "error");
    assert.match(String(error.message), /not for you/);
    assert.equal(error.server, server.address);
    assert.equal(error.nack, undefined);
  });

  it("shows aliases, TTLs, and that a TTL is over", async () => {
    await using server = await oddServer((stream, index) => {
      if (index === 0) {
        stream.send(deltaResponse("1", [{ name: "a", aliases: ["b"], ttlMs: 900, resource: packedCluster("a") }]));
      }
    });
    await using watching = watch("--server", server.address, "--ads");
    const { aliases, ttl, version } = await watching.seen(is("upsert", "a"));
    assert.deepEqual([aliases, ttl, version], [["b"], "0.9s", "1"]);
    assert.equal((await watching.seen(is("delete", "a"))).reason, "ttl");
  });

  it("shows name and version of resources of unknown types", async () => {
    const own = "type.googleapis.com/own.Thing";
    const resource = packed(own, Buffer.from([10, 1, 65]));
    await using server = await oddServer((stream, index) => {
      if (index === 0) stream.send(deltaResponse("7", [{ name: "x", resource }], [], own));
    });
    await using watching = inProcess([
      "watch",
      "--output",
      "jsonl",
      "--ads",
      "--server",
      server.address,
      "--type",
      own,
    ]);
    const { type, version, resource: shown } = await watching.seen(is("upsert", "x"));
    assert.deepEqual([type, version, shown], [own, "7", { "@type": own, "@value": "[redacted]" }]);
  });
});

describe("xdskit watch of servers that come and go", () => {
  it("goes on with a server that was started again", async () => {
    const first = createServer();
    const message = cluster("a");
    first.config.set([message]);
    const { grpc: address } = await first.listen({ grpc: "127.0.0.1:0" });
    await using watching = watch("--server", address);
    await watching.seen(is("upsert", "a"));
    await first.close({ timeoutMs: 200 });
    await watching.seen(({ event }) => event === "disconnected");
    const before = watching.events().length;
    const second = createServer();
    try {
      second.config.set([message, cluster("b")]);
      await second.listen({ grpc: address });
      await watching.seen(({ event }) => event === "connected", before);
      await watching.seen(is("upsert", "b"), before);
      // An unchanged resource is no event.
      assert.equal(watching.events().filter(is("upsert", "a")).length, 1);
    } finally {
      await second.close({ timeoutMs: 200 });
    }
  });

  it("asks the next server when the first goes away, although it has every resource", async () => {
    const [first, second] = [createServer(), createServer()];
    try {
      first.config.set([cluster("a")]);
      second.config.set([cluster("a"), cluster("b")]);
      const { grpc: address } = await first.listen({ grpc: "127.0.0.1:0" });
      const { grpc: fallback } = await second.listen({ grpc: "127.0.0.1:0" });
      await using watching = watch("--server", address, "--server", fallback);
      await watching.seen(is("upsert", "a"));
      await first.close({ timeoutMs: 200 });
      await watching.seen(({ event, server }) => event === "connected" && server === fallback);
      await watching.seen(is("upsert", "b"));
    } finally {
      await Promise.all([first, second].map((server) => server.close({ timeoutMs: 200 })));
    }
  });

  it("asks the next server while the first is away, and goes back to it", async () => {
    const [first, second] = [createServer(), createServer()];
    try {
      first.config.set([cluster("a")]);
      const { grpc: address } = await first.listen({ grpc: "127.0.0.1:0" });
      await first.close({ timeoutMs: 200 });
      second.config.set([cluster("a"), cluster("b")]);
      const { grpc: fallback } = await second.listen({ grpc: "127.0.0.1:0" });
      await using watching = watch("--server", address, "--server", fallback);
      await watching.seen(is("upsert", "b"));
      await watching.seen(({ event, server }) => event === "connected" && server === fallback);
      const again = createServer();
      try {
        again.config.set([cluster("a")]);
        await again.listen({ grpc: address });
        await watching.seen(({ event, to }) => event === "switched" && to === address);
        await watching.seen(is("delete", "b"));
      } finally {
        await again.close({ timeoutMs: 200 });
      }
    } finally {
      await second.close({ timeoutMs: 200 });
    }
  });
});
