import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import {
  type ClientConfig,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { createServer, type XdsServer } from "@xdskit/server";
import type { XdsClient } from "../contract/xds-client.js";
import { createClient } from "../create-client.js";
import { createClientMetrics } from "../metrics/client-metrics.js";
import { patienceMs, waitFor } from "../testing/wait-for.js";
import { serveStatus } from "./serve-status.js";

type Request = MessageInitShape<typeof ClientStatusRequestSchema>;

const path = (name: string) => `/envoy.service.status.v3.ClientStatusDiscoveryService/${name}ClientStatus`;
const asIs = (bytes: Buffer) => bytes;
const bytesOf = (request: Request) =>
  Buffer.from(toBinary(ClientStatusRequestSchema, create(ClientStatusRequestSchema, request)));
const configsIn = (bytes: Buffer) => fromBinary(ClientStatusResponseSchema, bytes).config;

interface Tools {
  readonly server: XdsServer;
  readonly client: XdsClient;
  readonly caller: Client;
  fetch(request?: Request | Buffer): Promise<readonly ClientConfig[]>;
}

async function withStatus(variant: "sotw" | "delta", test: (tools: Tools) => Promise<void>): Promise<void> {
  const server = createServer();
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({
    servers: [{ kind: "grpc", address, variant }],
    node: { id: "shop-1", cluster: "shop", metadata: { team: "one", db_password: "S3CR3T" } },
    absentAfterMs: 300,
    checks: {
      cluster: (message) => ("altStatName" in message && message.altStatName === "bad" ? "it is bad" : undefined),
    },
  });
  const served = await serveStatus(client, "127.0.0.1:0");
  const caller = new Client(served.address, credentials.createInsecure());
  const fetch: Tools["fetch"] = (request = {}) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.isBuffer(request) ? request : bytesOf(request as Request);
      caller.makeUnaryRequest(path("Fetch"), asIs, asIs, bytes, { deadline: Date.now() + 20_000 }, (error, answer) => {
        if (error !== null) reject(error);
        else resolve(configsIn(answer ?? Buffer.alloc(0)));
      });
    });
  try {
    await test({ server, client, caller, fetch });
  } finally {
    caller.close();
    await served.close();
    await client.close();
    await server.close({ timeoutMs: 500 });
  }
}

/** `a ACKED`, for each resource. */
const brief = (configs: readonly ClientConfig[]) =>
  configs.flatMap(({ genericXdsConfigs }) =>
    genericXdsConfigs.map(({ name, clientStatus }) => `${name} ${ClientResourceStatus[clientStatus]}`).sort(),
  );

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });
async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const ignored = { onChanged: () => {} };

describe("client status of a client (CSDS)", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`client status has requested, accepted, rejected and missing resources, ${variant}`, () =>
      withStatus(variant, async ({ server, client, fetch }) => {
        const before = Date.now();
        assert.deepEqual(brief(await fetch()), []);
        server.config.set([cluster("a"), cluster("b")]);
        for (const name of ["a", "b", "none"]) client.watch(ClusterSchema, name, ignored);
        await eventually("all", async () => brief(await fetch()).join() === "a ACKED,b ACKED,none DOES_NOT_EXIST");
        const [config] = await fetch();
        assert.deepEqual(
          [config?.node?.id, config?.node?.cluster, config?.node?.userAgentName],
          ["shop-1", "shop", "xdskit"],
        );
        assert.deepEqual(config?.node?.metadata, { team: "one", db_password: "[redacted]" });
        const a = config?.genericXdsConfigs.find(({ name }) => name === "a");
        assert.equal(a?.typeUrl, "type.googleapis.com/envoy.config.cluster.v3.Cluster");
        assert.equal(a?.versionInfo, (await client.get(ClusterSchema, "a")).version);
        assert.equal(a?.xdsConfig && anyUnpack(a.xdsConfig, ClusterSchema)?.name, "a");
        const at = Number(a?.lastUpdated?.seconds) * 1000;
        assert.ok(at >= before - 1_000 && at <= Date.now() + 1_000, `${at} is not now`);

        server.config.update({ upsert: [cluster("b", "bad")] });
        await eventually("the rejection", async () => brief(await fetch()).includes("b NACKED"));
        const rejected = (await fetch())[0]?.genericXdsConfigs.find(({ name }) => name === "b");
        assert.match(rejected?.errorState?.details ?? "", /it is bad/);
        assert.notEqual(rejected?.errorState?.versionInfo, rejected?.versionInfo);
        assert.ok(Number(rejected?.errorState?.lastUpdateAttempt?.seconds) >= Math.floor(before / 1000) - 1);
        // The content that it uses, not the one that it rejected.
        assert.equal(rejected?.xdsConfig && anyUnpack(rejected.xdsConfig, ClusterSchema)?.altStatName, "");

        server.config.update({ upsert: [cluster("b", "good")] });
        await eventually("the good one", async () => brief(await fetch()).includes("b ACKED"));
        const fixed = (await fetch())[0]?.genericXdsConfigs.find(({ name }) => name === "b");
        assert.equal(fixed?.errorState, undefined);
      }));
  }

  it("client status never shows secrets, and leaves contents out on request", () =>
    withStatus("delta", async ({ server, client, fetch }) => {
      const key = { specifier: { case: "inlineString", value: "S3CR3T" } } as const;
      const chain = { specifier: { case: "inlineString", value: "public" } } as const;
      const value = { privateKey: key, certificateChain: chain };
      server.config.set([create(SecretSchema, { name: "one", type: { case: "tlsCertificate", value } })]);
      await client.get("secret", "one");
      client.watch("secret", "one", ignored);
      await eventually("it", async () => brief(await fetch()).join() === "one ACKED");
      const shown = (await fetch())[0]?.genericXdsConfigs[0]?.xdsConfig?.value ?? [];
      const text = Buffer.from(shown).toString("latin1");
      assert.ok(text.includes("public") && text.includes("[redacted]") && !text.includes("S3CR3T"), text);
      const bare = (await fetch({ excludeResourceContents: true }))[0]?.genericXdsConfigs[0];
      assert.deepEqual([bare?.name, bare?.xdsConfig], ["one", undefined]);
    }));

  it("each request of a stream is answered, and the stream ends when the caller ends it", () =>
    withStatus("delta", async ({ caller }) => {
      const call = caller.makeBidiStreamRequest(path("Stream"), asIs, asIs, { deadline: Date.now() + 20_000 });
      const answers: Buffer[] = [];
      call.on("data", (answer: Buffer) => answers.push(answer));
      const ended = new Promise<number>((resolve) => call.on("status", ({ code }) => resolve(code)));
      call.on("error", () => {});
      for (let index = 0; index < 3; index += 1) call.write(bytesOf({}));
      await waitFor("the answers", () => answers.length === 3);
      assert.deepEqual(
        answers.flatMap(configsIn).map(({ node }) => node?.id),
        ["shop-1", "shop-1", "shop-1"],
      );
      call.end();
      assert.equal(await ended, status.OK);
    }));

  it("a request that cannot be answered is refused, and the service goes on", () =>
    withStatus("delta", async ({ caller, fetch }) => {
      const refusal = (request: Request | Buffer) =>
        fetch(request).then(
          () => assert.fail("answered"),
          (error: ServiceError) => [error.code, error.details],
        );
      const matcher = { nodeId: { matchPattern: { case: "exact", value: "other" } } } as const;
      assert.deepEqual(await refusal({ nodeMatchers: [matcher] }), [
        status.INVALID_ARGUMENT,
        "node_matchers: a client tells of itself alone",
      ]);
      assert.equal((await refusal(Buffer.of(0x0a, 0xff)))[0], status.INVALID_ARGUMENT);
      const call = caller.makeBidiStreamRequest(path("Stream"), asIs, asIs, { deadline: Date.now() + 20_000 });
      const failed = new Promise<ServiceError>((resolve) => call.on("error", resolve));
      call.on("data", () => {});
      call.write(Buffer.of(0x0a, 0xff));
      assert.equal((await failed).code, status.INVALID_ARGUMENT);
      assert.equal((await fetch()).length, 1);
    }));

  it("arguments of programs without types are refused by their names", async () => {
    const wrong = (code: string, message: RegExp) => ({ code, message });
    const option = wrong("XDSKIT_CLIENT_OPTION", /^(createStatusService|createClientMetrics) takes what createClient/);
    for (const clients of [undefined, {}, [{}]]) {
      await assert.rejects(serveStatus(clients as never, "127.0.0.1:0"), option);
      assert.throws(() => createClientMetrics(clients as never), option);
    }
    const address = wrong("XDSKIT_ADDRESS_INVALID", /^serveStatus takes HOST:PORT or unix/);
    for (const given of [undefined, "localhost", 19_000])
      await assert.rejects(serveStatus([], given as never), address);
  });
});
