import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { servedApart } from "../testing/served.js";

const [stays, goes] = [newToken(), newToken()];
const identities = (...names: readonly string[]) => `
tokens: { stays: "${hashOfToken(stays)}", goes: "${hashOfToken(goes)}" }
identities:
${names.map((name) => `  - { when: { token: ${name} }, node: { id: "${name}-*" } }`).join("\n")}
`;

test("an edit of identities holds in every worker, without a restart", async () => {
  await using beside = await testFolder({ stays, goes });
  const files = { "a.yaml": clusterYaml("web"), "xdskit.yaml": identities("stays", "goes") };
  await using server = await servedApart(files, "--workers", "2");
  /** Whether it is served, over four connections: one worker after the other gets them. */
  const served = async (name: string) => {
    const token = `${beside.path}/${name}`;
    const ask = ["get", "cluster", "--server", server.grpc, "--node-id", `${name}-1`, "--token-file", token];
    const ends = [];
    for (let at = 0; at < 4; at++) ends.push((await inProcessEnds(...ask, "--timeout", "5s")).status === 0);
    return ends;
  };
  assert.deepEqual([await served("stays"), await served("goes")].flat(), Array(8).fill(true));
  await server.folder.write("xdskit.yaml", identities("stays"));
  await eventually(
    () => served("goes"),
    (ends) => !ends.includes(true),
  );
  assert.deepEqual(await served("stays"), Array(4).fill(true));
  assert.doesNotMatch(server.running.err(), /a worker ended/);
});

const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const asIs = (bytes: Buffer) => bytes;

/** Opens streams, a part of them on each of eight connections; resolves to how many of them stay open. */
async function streamsOf(server: string, token: string, perConnection: number): Promise<number> {
  const clients = Array.from(
    { length: 8 },
    () => new Client(server, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 }),
  );
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const open = (client: Client, id: string) => {
    const call = client.makeBidiStreamRequest(method, asIs, asIs, metadata);
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    call.write(
      Buffer.from(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl }))),
    );
    return new Promise<boolean>((resolve, reject) => {
      call.once("data", () => resolve(true));
      call.on("error", (error: Error & { readonly code?: number }) =>
        error.code === status.RESOURCE_EXHAUSTED ? resolve(false) : reject(error),
      );
    });
  };
  try {
    const calls = clients.flatMap((client, at) =>
      // A node of its own for each.
      Array.from({ length: perConnection }, (_, stream) => open(client, `stays-${at}-${stream}`)),
    );
    return (await Promise.all(calls)).filter((isOpen) => isOpen).length;
  } finally {
    for (const client of clients) client.close();
  }
}

test("four workers let an identity have no more streams than one process does", async () => {
  const limits = "limits: { streams_per_identity: 40 }\n";
  const files = { "a.yaml": clusterYaml("web"), "xdskit.yaml": identities("stays", "goes") + limits };
  for (const [workers, least] of [
    ["1", 40],
    ["4", 11],
  ] as const) {
    await using server = await servedApart(files, "--workers", workers);
    const open = await streamsOf(server.grpc, stays, 12);
    assert.ok(open <= 40, `${workers} workers let it have ${open}`);
    // One worker alone would let it have 10.
    assert.ok(open >= least, `${workers} workers let it have ${open} only`);
  }
});
