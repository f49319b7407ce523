import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createResource } from "@xdskit/api";
import { ClientResourceStatus as Client } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  type ClientConfig,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
  ConfigStatus,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { statusCode } from "@xdskit/protocol";
import type { ClientStatusPage, StatusPeer } from "../../contracts/nodes/status-peers.js";
import type { ServerOptions } from "../../contracts/server-options.js";
import { createServer } from "../../create-server.js";
import { patienceMs, within } from "../../testing/basics/wait-for.js";
import { type ServiceCall, serviceClient } from "../../testing/clients/service-client.js";
import { delta, type SotwStream, sotw } from "../../testing/clients/xds-client.js";
import { ads, type Running, urlOf, withServer } from "../../testing/running-server.js";
import { cluster, loadAssignment, routeConfiguration } from "../../testing/test-resources.js";
import { createMemoryTransport } from "../../transports/memory/memory-transport.js";
import { readServerEntry } from "./server-entry.js";
import { summaryFeature } from "./service-name.js";
import { readTypeSummary } from "./type-summary.js";

type Request = MessageInitShape<typeof ClientStatusRequestSchema>;

interface Tools extends Running {
  call(method: "Fetch" | "Stream"): ServiceCall;
  fetch(request?: Request): Promise<readonly ClientConfig[]>;
  /** The error of a refused request. */
  refusal(request: Request | Uint8Array): Promise<{ readonly code: number; readonly message: string }>;
}

const bytesOf = (request: Request | Uint8Array) =>
  request instanceof Uint8Array
    ? request
    : toBinary(ClientStatusRequestSchema, create(ClientStatusRequestSchema, request));
const configsIn = (bytes: Uint8Array | undefined) =>
  fromBinary(ClientStatusResponseSchema, bytes ?? assert.fail("no response")).config;

function withStatus(options: ServerOptions, test: (tools: Tools) => Promise<void>): Promise<void> {
  return withServer(options, async (running) => {
    const client = serviceClient(running.address);
    const call: Tools["call"] = (method) =>
      client.call(`/envoy.service.status.v3.ClientStatusDiscoveryService/${method}ClientStatus`);
    const fetched = async (request: Request | Uint8Array) => {
      const made = call("Fetch");
      made.send(bytesOf(request));
      made.finish();
      const { code, message } = await within("the answer", made.status);
      return { code, message, answer: made.responses[0] };
    };
    try {
      await test({
        ...running,
        call,
        async fetch(request = {}) {
          const { code, message, answer } = await fetched(request);
          assert.equal(code, statusCode.ok, message);
          return configsIn(answer);
        },
        refusal: fetched,
      });
    } finally {
      client.close();
    }
  });
}

const typeUrl = urlOf("cluster");
const node = (id: string) => ({ id, cluster: "edge", metadata: { team: "one", db_password: "S3CR3T" } });

/** Opens an ADS stream that has asked for all clusters, and has them. */
async function subscribed(client: Running["client"], id: string): Promise<SotwStream & { ack(): Promise<void> }> {
  const stream = sotw(client.open(ads("sotw")));
  stream.send({ node: node(id), typeUrl });
  let { versionInfo, nonce: responseNonce } = await stream.next();
  return {
    ...stream,
    async next() {
      const response = await stream.next();
      ({ versionInfo, nonce: responseNonce } = response);
      return response;
    },
    ack: async () => stream.send({ typeUrl, versionInfo, responseNonce }),
  };
}

/** `a SYNCED ACKED`, for each resource. */
const brief = ({ genericXdsConfigs }: ClientConfig) =>
  genericXdsConfigs.map(
    ({ name, configStatus, clientStatus }) => `${name} ${ConfigStatus[configStatus]} ${Client[clientStatus]}`,
  );

/** Asks until the status of the first node is as expected. */
async function eventually(
  fetch: Tools["fetch"],
  expected: readonly string[],
  request: Request = {},
): Promise<ClientConfig> {
  let last: ClientConfig | undefined;
  const end = Date.now() + patienceMs;
  while (Date.now() < end) {
    [last] = await fetch(request);
    if (last !== undefined && JSON.stringify(brief(last)) === JSON.stringify(expected)) return last;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(last && brief(last), expected);
  return assert.fail();
}

describe("client status (CSDS)", () => {
  it("client status shows sent, acknowledged and rejected resources for each node", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([cluster("a"), cluster("b")]);
      assert.deepEqual(await fetch(), []);
      const stream = await subscribed(client, "n1");
      const sent = await eventually(fetch, ["a STALE REQUESTED", "b STALE REQUESTED"]);
      assert.equal(sent.node?.id, "n1");
      assert.equal(sent.node?.cluster, "edge");
      assert.deepEqual(sent.node?.metadata, { team: "one", db_password: "[redacted]" });
      await stream.ack();
      const synced = await eventually(fetch, ["a SYNCED ACKED", "b SYNCED ACKED"]);
      const [first] = synced.genericXdsConfigs;
      assert.equal(first?.typeUrl, typeUrl);
      assert.equal(first?.versionInfo, server.snapshotOf("all")?.of(server.types.find("cluster")!).version);
      assert.equal(first?.xdsConfig && anyUnpack(first.xdsConfig, ClusterSchema)?.name, "a");
      const at = Number(first?.lastUpdated?.seconds);
      assert.ok(Math.abs(at - Date.now() / 1000) < 60, String(at));

      server.config.update({ upsert: [cluster("b", "bad")] });
      const { versionInfo, nonce: responseNonce } = await stream.next();
      await eventually(fetch, ["a SYNCED ACKED", "b STALE ACKED"]);
      const errorDetail = { code: 3, message: "b is bad: https://me:S3CR3T@host" };
      stream.send({ typeUrl, versionInfo: first?.versionInfo ?? "", responseNonce, errorDetail });
      const rejected = await eventually(fetch, ["a SYNCED ACKED", "b ERROR NACKED"]);
      const [, second] = rejected.genericXdsConfigs;
      assert.equal(second?.errorState?.details, "b is bad: https://me:[redacted]@host");
      assert.equal(second?.errorState?.versionInfo, versionInfo);
      assert.ok(second?.errorState?.lastUpdateAttempt !== undefined);
      // The newest content, as the proto says: the rejected one.
      assert.equal(second?.xdsConfig && anyUnpack(second.xdsConfig, ClusterSchema)?.altStatName, "bad");
    }));

  it("client status says that names do not exist, and shows delta resources with their own versions", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([loadAssignment("one", 1)]);
      const stream = delta(client.open(ads("delta")));
      const url = urlOf("endpoint");
      stream.send({ node: node("n1"), typeUrl: url, resourceNamesSubscribe: ["one", "two"] });
      const { nonce: responseNonce, resources } = await stream.next();
      stream.send({ typeUrl: url, responseNonce });
      const found = await eventually(fetch, ["one SYNCED ACKED", "two NOT_SENT DOES_NOT_EXIST"]);
      assert.equal(found.genericXdsConfigs[0]?.versionInfo, resources[0]?.version);
      assert.equal(found.genericXdsConfigs[1]?.xdsConfig, undefined);
    }));

  it("client status never shows secrets, and leaves contents out on request", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      const key = { specifier: { case: "inlineString", value: "S3CR3T" } } as const;
      const chain = { specifier: { case: "inlineString", value: "public" } } as const;
      const value = { privateKey: key, certificateChain: chain };
      server.config.set([create(SecretSchema, { name: "one", type: { case: "tlsCertificate", value } })]);
      const stream = sotw(client.open(ads("sotw")));
      const url = `type.googleapis.com/${SecretSchema.typeName}`;
      stream.send({ node: node("n1"), typeUrl: url, resourceNames: ["one"] });
      await stream.next();
      const [shown] = (await fetch())[0]?.genericXdsConfigs ?? [];
      const text = Buffer.from(shown?.xdsConfig?.value ?? []).toString("latin1");
      assert.ok(text.includes("public") && text.includes("[redacted]") && !text.includes("S3CR3T"), text);
      const [bare] = (await fetch({ excludeResourceContents: true }))[0]?.genericXdsConfigs ?? [];
      assert.equal(bare?.name, "one");
      assert.equal(bare?.xdsConfig, undefined);
    }));

  it("client status shows the selected nodes, each with all its streams", () =>
    withStatus({}, async ({ server, client, fetch, refusal }) => {
      server.config.set([cluster("a"), loadAssignment("one", 1)]);
      for (const id of ["edge-1", "edge-2", "inner-1"]) await subscribed(client, id);
      const second = sotw(client.open(ads("sotw")));
      second.send({ node: node("edge-1"), typeUrl: urlOf("endpoint"), resourceNames: ["one"] });
      await second.next();
      const prefix = { nodeId: { matchPattern: { case: "prefix", value: "edge-" } } } as const;
      const found = await fetch({ nodeMatchers: [prefix] });
      assert.deepEqual(
        found.map((config) => [config.node?.id, ...brief(config)]),
        [
          ["edge-1", "a STALE REQUESTED", "one STALE REQUESTED"],
          ["edge-2", "a STALE REQUESTED"],
        ],
      );
      assert.equal((await fetch()).length, 3);
      const broken = { nodeId: { matchPattern: { case: "safeRegex", value: { regex: "(" } } } } as const;
      const { code, message } = await refusal({ nodeMatchers: [broken] });
      assert.deepEqual([code, message.slice(0, 14)], [statusCode.invalidArgument, "node_matchers:"]);
      assert.equal((await refusal(Uint8Array.of(0x0a, 0xff))).code, statusCode.invalidArgument);
    }));

  it("client status counts the TTLs that a synced client is not told", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([createResource(cluster("a"), { ttl: 30_000 }), cluster("b")]);
      const stream = await subscribed(client, "n1");
      await stream.ack();
      const request = { node: { clientFeatures: [summaryFeature] } };
      const synced = await eventually(fetch, [" SYNCED ACKED"], request);
      const summaries = synced.genericXdsConfigs.flatMap((entry) => readTypeSummary(entry) ?? []);
      assert.deepEqual(summaries, [
        { state: "synced", why: "", behind: 0, waits: [], heldBack: undefined, untoldTtls: 1 },
      ]);
    }));

  it("client status says that a rollout holds back a node that has all of its own target", () =>
    withStatus(
      { rollout: { steps: [{ match: { id: "first" } }], soakMs: 60_000 } },
      async ({ server, client, fetch }) => {
        server.config.set([cluster("a"), cluster("b")]);
        const stream = await subscribed(client, "n1");
        await stream.ack();
        const request = { node: { clientFeatures: [summaryFeature] } };
        await eventually(fetch, [" SYNCED ACKED"], request);
        server.config.update({ upsert: [cluster("b", "new")] });
        const { genericXdsConfigs } = await eventually(fetch, [" SYNCED ACKED"], request);
        const told = genericXdsConfigs.flatMap((entry) => readTypeSummary(entry) ?? []);
        const rollout = { group: "all", state: "waiting", step: 1, steps: 1 };
        const why = "1 resource held back by the rollout of all at step 1 of 1";
        const heldBack = { resources: 1, quarantined: 0, rollout };
        assert.deepEqual(told, [{ state: "held-back", why, behind: 0, waits: [], heldBack, untoldTtls: 0 }]);
      },
    ));

  it("client status sums up: types with their versions, and only the resources that are behind", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const stream = await subscribed(client, "n1");
      const request = { node: { clientFeatures: [summaryFeature] } };
      await eventually(fetch, [" STALE UNKNOWN", "a STALE REQUESTED", "b STALE REQUESTED"], request);
      await stream.ack();
      const synced = await eventually(fetch, [" SYNCED ACKED"], request);
      const before = synced.genericXdsConfigs[0]?.versionInfo;
      assert.equal(synced.genericXdsConfigs[0]?.xdsConfig, undefined);
      server.config.update({ upsert: [cluster("b", "new")] });
      const { versionInfo, nonce: responseNonce } = await stream.next();
      const behind = await eventually(fetch, [" SYNCED ACKED", " STALE UNKNOWN", "b STALE ACKED"], request);
      assert.deepEqual(
        behind.genericXdsConfigs.map((entry) => entry.versionInfo),
        [before, versionInfo, versionInfo],
      );
      const more = behind.genericXdsConfigs.flatMap((entry) => readTypeSummary(entry) ?? []);
      const why = "waits for its ACK";
      assert.deepEqual(more, [{ state: "pending", why, behind: 1, waits: [], heldBack: undefined, untoldTtls: 0 }]);
      stream.send({ typeUrl, versionInfo: before ?? "", responseNonce, errorDetail: { code: 3, message: "no" } });
      const rejected = await eventually(fetch, [" SYNCED ACKED", " ERROR NACKED", "b ERROR NACKED"], request);
      assert.equal(rejected.genericXdsConfigs[1]?.errorState?.details, "no");
    }));

  it("client status gives the words against many resources to those that they name, or to none", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node: node("n1"), typeUrl });
      const request = { node: { clientFeatures: [summaryFeature] } };
      const told = ({ genericXdsConfigs }: Awaited<ReturnType<typeof fetch>>[number]) =>
        genericXdsConfigs.map(({ name, errorState }) => [name, errorState?.details]);
      const rejects = async (message: string, ...expected: readonly string[]) => {
        const { nonce: responseNonce } = await stream.next();
        stream.send({ typeUrl, responseNonce, errorDetail: { code: 3, message } });
        return told(await eventually(fetch, [...expected, "b ERROR NACKED"], request));
      };
      assert.deepEqual(await rejects("too many", " ERROR NACKED", "a ERROR NACKED"), [
        ["", "too many"],
        ["a", undefined],
        ["b", undefined],
      ]);
      server.config.set([cluster("a", "new"), cluster("b", "new")]);
      const named = "Error adding/updating cluster(s) b: no";
      // The client uses what it does not name.
      assert.deepEqual((await rejects(named, " SYNCED ACKED", " ERROR NACKED")).at(-1), ["b", named]);
    }));

  it("client status sums up that nothing is on its way to a client that asks for fewer names than it was sent", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      server.config.set([loadAssignment("one", 1), loadAssignment("two", 1)]);
      const stream = delta(client.open(ads("delta")));
      const url = urlOf("endpoint");
      stream.send({ node: node("n1"), typeUrl: url, resourceNamesSubscribe: ["one", "two"] });
      const { nonce: responseNonce } = await stream.next();
      const request = { node: { clientFeatures: [summaryFeature] } };
      await eventually(fetch, [" STALE UNKNOWN", "one STALE REQUESTED", "two STALE REQUESTED"], request);
      stream.send({ typeUrl: url, responseNonce });
      const both = await eventually(fetch, [" SYNCED ACKED"], request);
      stream.send({ typeUrl: url, resourceNamesUnsubscribe: ["one"] });
      await eventually(fetch, ["two SYNCED ACKED"]);
      server.config.set([loadAssignment("two", 1)]);
      const one = await eventually(fetch, [" SYNCED ACKED"], request);
      assert.notEqual(one.genericXdsConfigs[0]?.versionInfo, both.genericXdsConfigs[0]?.versionInfo);
    }));

  it("client status says which changes wait, and for what", () =>
    withStatus({}, async ({ server, client, fetch }) => {
      const routes = urlOf("route");
      server.config.set([cluster("a"), cluster("b"), routeConfiguration("r", "a")]);
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node: node("n1"), typeUrl });
      const clusters = await stream.next();
      stream.send({ typeUrl, versionInfo: clusters.versionInfo, responseNonce: clusters.nonce });
      stream.send({ typeUrl: routes, resourceNames: ["r"] });
      const first = await stream.next();
      const taken = { typeUrl: routes, resourceNames: ["r"], versionInfo: first.versionInfo };
      stream.send({ ...taken, responseNonce: first.nonce });
      const request = { node: { clientFeatures: [summaryFeature] } };
      await eventually(fetch, [" SYNCED ACKED", " SYNCED ACKED"], request);
      // The route leaves the cluster that goes: until it is acknowledged, the cluster stays.
      server.config.set([cluster("b"), routeConfiguration("r", "b")]);
      await stream.next();
      const held = ["a NOT_SENT ACKED", " SYNCED ACKED", " STALE UNKNOWN", "r STALE ACKED"];
      const config = await eventually(fetch, [" SYNCED ACKED", " NOT_SENT UNKNOWN", ...held], request);
      const [waiting] = config.genericXdsConfigs.flatMap((entry) => readTypeSummary(entry)?.waits ?? []);
      assert.deepEqual(
        [waiting?.kind, waiting?.names, waiting?.for],
        ["break", ["a"], { type: "route", names: ["r"] }],
      );
    }));

  it("client status answers each request of a stream with the state at that time, and bounds the requests", () =>
    withStatus({}, async ({ server, client, call }) => {
      server.config.set([cluster("a")]);
      const asked = call("Stream");
      asked.send(bytesOf({}));
      assert.deepEqual(configsIn(await asked.next()), []);
      await subscribed(client, "n1");
      asked.send(bytesOf({}));
      assert.equal(configsIn(await asked.next())[0]?.node?.id, "n1");
      asked.finish();
      assert.equal((await within("the end", asked.status)).code, statusCode.ok);
      const greedy = call("Stream");
      for (let count = 0; count < 100; count++) greedy.send(bytesOf({}));
      assert.equal((await within("the end", greedy.status)).code, statusCode.resourceExhausted);
      const closing = call("Stream");
      closing.send(bytesOf({}));
      await closing.next();
      const closed = server.close();
      assert.equal((await within("the end", closing.status)).code, statusCode.ok);
      await within("the close", closed);
    }));

  it("client status refuses an answer above the limit, and suggests a smaller request", () =>
    withStatus({ limits: { clientStatusBytes: 1_000 } }, async ({ server, client, fetch, refusal }) => {
      server.config.set(Array.from({ length: 50 }, (_, index) => cluster(`cluster-${index}`)));
      await subscribed(client, "n1");
      const { code, message } = await refusal({});
      assert.equal(code, statusCode.resourceExhausted);
      assert.match(message, /more than 1000 bytes: ask for fewer nodes \(node_matchers\), or without contents/);
      const none = { nodeId: { matchPattern: { case: "exact", value: "n2" } } } as const;
      assert.deepEqual(await fetch({ nodeMatchers: [none] }), []);
    }));

  it("client status speaks for all servers of a store, page by page, and names the silent ones", async () => {
    const names = (prefix: string) =>
      Array.from({ length: 300 }, (_, index) => `${prefix}-${String(index).padStart(150, "0")}`);
    const other = createServer();
    const transport = createMemoryTransport();
    await other.listenOn(transport, "other");
    other.config.set(names("c").map((name) => cluster(name)));
    const method = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
    const ids = names("n").slice(0, 30);
    // 300 names of 150 bytes for each of 31 nodes are more than one page.
    for (const id of [...ids, "both"]) {
      const stream = transport.open("other", method, () => {});
      stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl })));
    }
    let failure: Error | undefined;
    const pages: number[] = [];
    const peer: StatusPeer = {
      name: "other",
      async ask(asked) {
        if (failure !== undefined) throw failure;
        const page = JSON.parse(JSON.stringify(await other.clientStatusPage(asked))) as ClientStatusPage;
        pages.push(page.nodes.length);
        return page;
      },
    };
    await withStatus({ statusPeers: () => [peer] }, async ({ server, client, fetch }) => {
      server.config.set([cluster("own")]);
      await subscribed(client, "both");
      const found = await fetch();
      assert.deepEqual(found.map((config) => config.node?.id).sort(), ["both", ...ids].sort());
      const both = found.find((config) => config.node?.id === "both");
      assert.deepEqual([both?.genericXdsConfigs.length, both?.node?.cluster], [301, "edge"]);
      assert.ok(pages.length > 1 && pages.reduce((sum, count) => sum + count) === 31, `${pages}`);
      const exact = { nodeId: { matchPattern: { case: "exact", value: ids[7] ?? "" } } } as const;
      assert.equal((await fetch({ nodeMatchers: [exact] })).length, 1);

      failure = new Error("it did not answer within 3 s");
      const summary = await fetch({ node: { clientFeatures: [summaryFeature] } });
      assert.deepEqual(
        summary.flatMap((config) => readServerEntry(config) ?? []),
        [{ source: "other", kind: "silent", message: "it did not answer within 3 s" }],
      );
      assert.equal(summary.filter((config) => config.node !== undefined).length, 1);
    });
    await other.close();
  });

  it("client status is not served for v2", () =>
    withStatus({}, async ({ address }) => {
      const client = serviceClient(address);
      const made = client.call("/envoy.service.status.v2.ClientStatusDiscoveryService/FetchClientStatus");
      made.send(new Uint8Array());
      made.finish();
      const { code, message } = await within("the refusal", made.status);
      client.close();
      assert.equal(code, statusCode.unimplemented);
      assert.match(message, /v3 only/);
    }));
});
