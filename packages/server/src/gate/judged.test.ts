import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { statusCode } from "@xdskit/protocol";
import type { Method, ServiceMethod } from "../contracts/transport.js";
import { createServer } from "../create-server.js";
import type { Caller, CallerRefused } from "../identity/caller.js";
import * as callers from "../identity/caller.js";
import type { IdentityRule } from "../identity/identity-rule.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { type Called, callOf, doorsOf, settle } from "../testing/identity/doors.js";
import { nodeRequest } from "../testing/identity/tenants.js";
import { clusterResource } from "../testing/test-resources.js";

const ads: Method = { variant: "sotw", api: "v3", only: undefined, unary: false };

/** A server whose callers show tokens that are their names. */
async function serving(t: TestContext, identities: readonly IdentityRule[]) {
  /** How often somebody was judged. */
  const judged = { count: 0 };
  const tokenName = (token: string) => {
    judged.count += 1;
    return token;
  };
  const server = createServer({ eventLoop: false, identities, tokenName, onReject: "lastGood" });
  t.after(() => server.close());
  server.config.set([clusterResource("web")]);
  const refused: CallerRefused[] = [];
  server.on((event) => event.kind === "caller-refused" && refused.push(event));
  const doors = await doorsOf(server);
  const open = async (token: string, first = nodeRequest("", { id: "edge", cluster: "" }, ads)): Promise<Called> => {
    const called = callOf((call) => doors.accept({ ...call, method: ads }), token, false);
    called.send(first);
    await settle(called);
    return called;
  };
  return { server, open, judged, refused: () => refused.map(({ rule, proved }) => `${rule} ${proved}`) };
}

test("a rule that denies shuts out whom a later rule would let in, ends its streams, and is named", async (t) => {
  const all: IdentityRule[] = ["good", "bad"].map((token) => ({ when: { token }, node: {} }));
  const { server, open, refused } = await serving(t, all);
  const streams = { good: await open("good"), bad: await open("bad") };
  assert.deepEqual([streams.good.ended, streams.bad.ended], [undefined, undefined]);
  server.reconfigure({ identities: [{ when: { token: "bad" }, deny: true }, ...all] });
  assert.equal(streams.bad.ended?.code, statusCode.permissionDenied);
  assert.equal(streams.good.ended, undefined);
  const again = await open("bad");
  assert.equal(again.ended?.code, statusCode.permissionDenied);
  // The same words as for one whom nobody knows.
  assert.equal(again.ended?.message, (await open("stranger")).ended?.message);
  assert.equal((await open("good")).ended, undefined);
  assert.deepEqual(refused().slice(0, 2), ["0 token bad", "0 token bad"]);
  assert.deepEqual(server.stats().callersRefused, [
    { rule: 0, count: 2 },
    { rule: undefined, count: 1 },
  ]);
});

test("what a rule that denies does not need is an error, and so is a rule that says no node", () => {
  const made = (rule: object) => () => createServer({ identities: [{ when: { token: "a" }, ...rule }] });
  assert.throws(made({}), /identities\[0\]\.node: expected the nodes/);
  for (const wrong of [{ node: {} }, { groups: ["a"] }, { secrets: true }])
    assert.throws(made({ deny: true, ...wrong }), /identities\[0\]\.\w+: a rule with deny: true lets nobody in/);
});

test("rules cost nothing after the first message: nobody is judged again", async (t) => {
  const { open, judged } = await serving(t, [{ when: { token: "good" }, node: {} }]);
  const stream = await open("good");
  assert.equal(judged.count, 1);
  for (let at = 0; at < 100; at++) stream.send(nodeRequest("", { id: "edge", cluster: "" }, ads));
  await settle(stream);
  assert.ok(stream.sent.length > 0);
  assert.equal(judged.count, 1);
});

/** What a client answers to the newest response of its stream. */
function answer(sent: readonly Uint8Array[], message?: string): Uint8Array {
  const { typeUrl, nonce, versionInfo } = fromBinary(DiscoveryResponseSchema, sent.at(-1) ?? assert.fail("none"));
  const errorDetail = message === undefined ? undefined : { message };
  const fields = { node: { id: "edge" }, typeUrl, responseNonce: nonce, versionInfo, errorDetail };
  return toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, fields));
}

test("a rejection is evidence only on a stream of whoever may be the node", async (t) => {
  const { server, open } = await serving(t, [
    { when: { token: "good" }, node: { id: "edge" } },
    { when: { token: "other" }, node: { id: "other" } },
  ]);
  const counted: string[] = [];
  server.on(({ kind }) => (kind === "rejected" || kind === "quarantine") && counted.push(kind));
  const good = await open("good");
  good.send(answer(good.sent));
  server.config.set([clusterResource("web", "two")]);
  await waitFor("the change", () => good.sent.length === 2);
  const rejection = answer(good.sent, "no");
  const later = await open("other", nodeRequest("", { id: "other", cluster: "" }, ads));
  assert.equal(later.ended, undefined);
  later.send(rejection);
  for (const refused of [await open("stranger", rejection), await open("other", rejection), later])
    assert.equal(refused.ended?.code, statusCode.permissionDenied);
  assert.deepEqual(counted, []);
  good.send(rejection);
  await waitFor("what the node itself says", () => counted.length === 2);
  assert.deepEqual(counted.sort(), ["quarantine", "rejected"]);
});

test("only a gate makes callers, and without one no handler can be called", () => {
  assert.deepEqual(Object.keys(callers).sort(), ["createGate", "notKnown", "notThisNode"]);
  type Copy = { [Field in keyof Caller]: Caller[Field] };
  // @ts-expect-error What has all that a caller shows is none.
  const forged = (copy: Copy): Caller => copy;
  // @ts-expect-error A call alone is not enough.
  const open = ({ accept }: ServiceMethod, call: Parameters<typeof accept>[0]) => accept(call);
  assert.ok(forged !== undefined && open !== undefined);
});
