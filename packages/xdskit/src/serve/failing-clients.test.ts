import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { credentials, makeGenericClientConstructor, type ServiceError, status } from "@grpc/grpc-js";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { eventually } from "../testing/command.js";
import { type Served, served } from "../testing/served.js";

interface Problem {
  readonly kind: string;
  readonly severity: string;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
}

async function problemsOf(server: Served): Promise<readonly Problem[]> {
  const { problems } = (await server.ask("/api/v1/problems")) as { readonly problems: readonly Problem[] };
  return problems.filter(({ kind }) => kind === "client");
}

/** Sends bytes to the gRPC port, and waits until the server closes the connection. */
async function says({ grpc }: Served, bytes: Buffer): Promise<void> {
  const socket = connect(Number(grpc.split(":").at(-1)), "127.0.0.1");
  const closed = once(socket, "close");
  socket.on("error", () => {});
  socket.resume().end(bytes);
  await closed;
}

/** Asks for all clusters, and says how the stream ended. */
async function asksForClusters({ grpc }: Served, node: { readonly id: string }): Promise<ServiceError> {
  const Client = makeGenericClientConstructor({}, "");
  const client = new Client(grpc, credentials.createInsecure());
  const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const stream = client.makeBidiStreamRequest(
    "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes: Buffer) => bytes,
  );
  stream.write(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl })));
  stream.resume();
  const [error] = (await once(stream, "error")) as [ServiceError];
  client.close();
  return error;
}

const proxy2 = Buffer.from("0d0a0d0a000d0a515549540a2111000c7f0000017f000001d2040050", "hex");

describe("a client that comes again and again, and gets nowhere, is one line of the log and one problem", () => {
  for (const { what, bytes, says: reason } of [
    {
      what: "HTTP/1.1",
      bytes: Buffer.from("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"),
      says: /speaks HTTP\/1\.1, and gRPC/,
    },
    { what: "PROXY protocol", bytes: Buffer.from("PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\n"), says: /PROXY protocol/ },
    { what: "PROXY protocol, version 2", bytes: proxy2, says: /PROXY protocol/ },
    {
      what: "TLS",
      bytes: Buffer.from("16030100c8010000c40303", "hex"),
      says: /speaks TLS, and this port is plaintext/,
    },
  ])
    it(`where it speaks ${what} to the gRPC port`, async () => {
      await using server = await served({ "a.yaml": "[]\n" }, "--allow-empty");
      await says(server, bytes);
      assert.deepEqual(await problemsOf(server), []);
      await says(server, bytes);
      const [problem, ...more] = await eventually(
        () => problemsOf(server),
        (found) => found.length > 0,
      );
      assert.deepEqual(more, []);
      assert.equal(problem?.title, "Connections from 127.0.0.1 fail");
      assert.match(problem?.detail ?? "", reason);
      const lines = server.running
        .err()
        .split("\n")
        .filter((line) => reason.test(line));
      assert.equal(lines.length, 1, server.running.err());
      const { out } = await server.run("status");
      assert.match(out, reason);
    });

  it("where it does not take responses of more than 4 MiB, which is what gRPC's clients do by themselves", async () => {
    const clusters = Array.from({ length: 5 }, (_, index) => ({
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name: `c${index}`,
      alt_stat_name: "x".repeat(1_000_000),
    }));
    await using server = await served({ "a.json": JSON.stringify({ resources: clusters }) });
    for (let times = 0; times < 2; times += 1) {
      const error = await asksForClusters(server, { id: "grpc-1" });
      assert.equal(error.code, status.RESOURCE_EXHAUSTED, error.message);
    }
    const [problem, ...more] = await eventually(
      () => problemsOf(server),
      (found) => found.length > 0,
    );
    assert.deepEqual(more, []);
    assert.equal(problem?.title, "grpc-1 does not take the cluster configuration");
    assert.match(
      problem?.detail ?? "",
      /ended at a response of 5\d{6} bytes: .* take 4 MiB .* RESOURCE_EXHAUSTED; raise/,
    );
    const line = /went away instead of answering a large response/g;
    assert.equal(server.running.err().match(line)?.length, 1, server.running.err());
  });

  it("where no group matches its node", async () => {
    const groups = "groups: [{ name: edge, match: { id: edge-* }, folders: [.] }]\n";
    await using server = await served({ "a.yaml": "[]\n", "xdskit.yaml": groups });
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual(await problemsOf(server), []);
      assert.equal((await asksForClusters(server, { id: "lost-1" })).code, status.PERMISSION_DENIED);
    }
    const [problem, ...more] = await eventually(
      () => problemsOf(server),
      (found) => found.length > 0,
    );
    assert.deepEqual(more, []);
    assert.equal(problem?.title, "lost-1 at 127.0.0.1 is refused");
    assert.match(problem?.detail ?? "", /no group of this server matches the node: id "lost-1"/);
  });
});
