import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import type { Method, Refusal } from "./contracts/transport.js";
import { createServer } from "./create-server.js";
import type { IdentityRule } from "./identity/identity-rule.js";
import { defaultServerLimits, type ServerLimits } from "./settings/limits.js";
import { temporaryFolder } from "./testing/basics/temporary-folder.js";
import { waitFor } from "./testing/basics/wait-for.js";
import { type Called, callOf, doorsOf, pollOf, settle } from "./testing/identity/doors.js";
import { nodeRequest, type Tenant, tenants } from "./testing/identity/tenants.js";
import { clusterResource } from "./testing/test-resources.js";

const ads: Method = { variant: "sotw", api: "v3", only: undefined, unary: false };
const clusters = resourceTypes.find("cluster")!;
const fetch: Method = { variant: "sotw", api: "v3", only: clusters, unary: true };
const loadReports = "envoy.service.load_stats.v3.LoadReportingService";

/**
 * A server whose rules fix only the cluster of two tenants, who may both use any id. `claims`: what the rule of a
 * tenant asks for.
 */
async function shared(
  t: TestContext,
  limits: Partial<ServerLimits>,
  claims: (tenant: string) => Readonly<Record<string, string>> = (tenant) => ({ sub: `${tenant}:*` }),
) {
  const folder = await temporaryFolder(t);
  const { a, b, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const rule = (tenant: string): IdentityRule => ({
    when: {
      jwt: {
        issuer: "https://issuer",
        audience: "xdskit",
        jwks: folder.at("keys.json"),
        claims: claims(tenant),
      },
    },
    node: { cluster: claims(tenant).sub === undefined ? "*" : tenant },
  });
  const server = createServer({ eventLoop: false, rest: { holdMs: 60_000 }, limits, identities: ["a", "b"].map(rule) });
  t.after(() => server.close());
  server.config.set([clusterResource("web")]);
  const doors = await doorsOf(server);
  const begin = ({ good, cluster }: Tenant, id = "same", method = ads): Called => {
    const called = callOf((call) => doors.accept({ ...call, method }), good, method.unary);
    called.send(nodeRequest("", { id, cluster }, method));
    return called;
  };
  const open = async (...by: Parameters<typeof begin>): Promise<Called> => {
    const called = begin(...by);
    await settle(called);
    return called;
  };
  const report = async ({ good, cluster }: Tenant, id = "same"): Promise<Called> => {
    const methods = doors.services.find(({ name }) => name === loadReports)?.methods ?? {};
    const { accept } = methods.StreamLoadStats ?? assert.fail("no load reports");
    const called = callOf(accept, good, false);
    called.send(nodeRequest(loadReports, { id, cluster }, undefined));
    await settle(called);
    return called;
  };
  const poll = async ({ good, cluster }: Tenant, id = "same", version = "") =>
    await pollOf(doors.polls, good, clusters, { node: { id, cluster }, version_info: version });
  const reached = () => Object.fromEntries(server.stats().identityLimits.map(({ limit, count }) => [limit, count]));
  return { server, a, b, begin, open, report, poll, reached };
}

const tooMuch = (message: string): Refusal => ({ code: statusCode.resourceExhausted, message });

test("by default one identity has a quarter at most of what there is in all", () => {
  const { streams, polls, retainedBytes, ...each } = defaultServerLimits;
  const parts = [
    each.streamsPerIdentity / streams,
    each.pollsPerIdentity / polls,
    each.retainedBytesPerIdentity / retainedBytes,
  ];
  assert.ok(Math.max(...parts) <= 0.25, parts.join());
});

test("one identity cannot use up what another has of a node id", async (t) => {
  const { server, a, b, open } = await shared(t, { streamsPerNode: 2 });
  const full = tooMuch('node "same" has 2 streams open, and no node may have more (limits.streams_per_node)');
  for (const tenant of [a, b]) {
    const [first, second] = [await open(tenant), await open(tenant)];
    assert.deepEqual([first.ended, second.ended], [undefined, undefined]);
    assert.deepEqual((await open(tenant)).ended, full);
  }
  assert.equal(server.stats().nodes, 1);
});

test("streams, unary calls and load reports of one identity count together, whatever nodes it claims", async (t) => {
  const { server, a, b, open, report, reached } = await shared(t, { streamsPerIdentity: 3 });
  const events: string[] = [];
  server.on((event) => {
    if (event.kind === "stream-refused" || event.kind === "call-refused") events.push(event.message);
  });
  const full = tooMuch("this caller has 3 streams open, and no identity may have more (limits.streams_per_identity)");
  const mine = [await open(a, "1"), await open(a, "2"), await report(a, "3")];
  assert.ok(mine.every(({ ended }) => ended === undefined));
  for (const refused of [await open(a, "4"), await report(a, "5"), await open(a, "6", fetch)])
    assert.deepEqual(refused.ended, full);
  assert.deepEqual(events, [full.message, full.message, full.message]);
  assert.deepEqual(server.stats().refused, [{ code: full.code, count: 3 }]);
  assert.deepEqual(reached(), { streams_per_identity: 3 });
  assert.equal((await open(b, "4")).ended, undefined, "another identity");
  mine[2]?.close();
  const fetched = await open(a, "7", fetch);
  assert.equal(fetched.ended?.code, statusCode.ok);
  assert.deepEqual((await open(a, "8")).ended, full, "its client has not read the answer");
  fetched.close();
  assert.equal((await open(a, "9")).ended, undefined);
  mine[0]?.close();
  server.reconfigure({ limits: { streamsPerIdentity: 2 } });
  assert.match((await open(a, "10")).ended?.message ?? "", /has 2 streams open/);
});

test("requests beyond the rate of an identity wait over all its streams, also those that come anew", async (t) => {
  const limits = { requestsPerSecondPerIdentity: 0.001, requestBurstPerIdentity: 5 };
  const { server, a, b, begin, open, report, poll, reached } = await shared(t, limits);
  for (const _ of [1, 2]) {
    const called = await open(a);
    assert.equal(called.sent.length, 1);
    called.close();
  }
  assert.equal((await report(a)).sent.length, 1);
  assert.equal((await poll(a)).kind, "response");
  assert.equal((await open(a, "same", fetch)).ended?.code, statusCode.ok);
  const late = [begin(a), begin(a, "same", fetch)] as const;
  const gone = begin(a);
  gone.close();
  const polled = await poll(a);
  assert.deepEqual([polled.kind, "status" in polled && polled.status], ["refused", 429]);
  assert.equal((await open(b)).sent.length, 1, "another identity is served at once");
  assert.deepEqual([late[0].sent, late[0].ended, late[1].ended], [[], undefined, undefined]);
  assert.deepEqual(reached(), { requests_per_second_per_identity: 4 });
  server.reconfigure({ limits: { requestsPerSecondPerIdentity: 1_000 } });
  await waitFor("those that wait to be answered", () => late[0].sent.length === 1 && late[1].ended !== undefined);
  assert.equal(late[1].ended?.code, statusCode.ok);
  assert.deepEqual(gone.sent, []);
});

test("a stream that floods ends, and no stream of its siblings does", async (t) => {
  const limits = { requestsPerSecondPerIdentity: 0.001, requestBurstPerIdentity: 3 };
  const { server, a, begin, open } = await shared(t, limits);
  const [floods, sibling] = [await open(a), await open(a)];
  const request = nodeRequest("", { id: "same", cluster: a.cluster }, ads);
  for (let sent = 0; sent < 66 && floods.ended === undefined; sent++) floods.send(request);
  assert.deepEqual(
    floods.ended,
    tooMuch(
      "this caller sent more than 0.001 requests per second, and no identity may have more (limits.requests_per_second_per_identity)",
    ),
  );
  assert.deepEqual(server.stats().refused, [{ code: statusCode.resourceExhausted, count: 1 }]);
  sibling.send(request);
  const anew = begin(a, "anew");
  server.reconfigure({ limits: { requestsPerSecondPerIdentity: 1_000 } });
  await waitFor("the new stream to be answered", () => anew.sent.length === 1);
  assert.equal(sibling.ended, undefined);
});

test("all subjects of an issuer have shares of their own, also by a rule that asks for none", async (t) => {
  const { a, b, open } = await shared(t, { streamsPerIdentity: 1 }, () => ({}));
  assert.equal((await open(a)).ended, undefined);
  assert.equal((await open(b)).ended, undefined);
  assert.match((await open(a)).ended?.message ?? "", /has 1 streams open/);
});

test("polls are answered beside a stream whose requests wait", async (t) => {
  const { server, a, begin, open, poll } = await shared(t, {
    requestsPerSecondPerIdentity: 0.001,
    requestBurstPerIdentity: 1,
  });
  await open(a);
  const late = begin(a);
  server.reconfigure({ limits: { requestsPerSecondPerIdentity: 1, requestBurstPerIdentity: 100 } });
  assert.equal((await poll(a)).kind, "response");
  late.close();
});

test("polls of one identity count together until they are answered", async (t) => {
  const { server, a, b, poll, reached } = await shared(t, { pollsPerIdentity: 2 });
  const answered = await poll(a);
  if (answered.kind !== "response") assert.fail(answered.kind);
  const { version_info: version } = JSON.parse(Buffer.from(answered.body.bytes).toString()) as { version_info: string };
  for (const id of ["1", "2"]) void poll(a, id, version);
  await waitFor("both to be parked", () => server.stats().polls.some(({ parked }) => parked === 2));
  const refused = await poll(a, "3", version);
  assert.equal(
    refused.kind === "refused" ? refused.message : "",
    "this caller has 2 polls open, and no identity may have more (limits.polls_per_identity)",
  );
  assert.equal((await poll(b, "3")).kind, "response");
  assert.deepEqual(reached(), { polls_per_identity: 1 });
});
