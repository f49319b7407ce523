import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { statusCode } from "@xdskit/protocol";
import type { Method } from "../contracts/transport.js";
import { createServer } from "../create-server.js";
import type { CallerRefused } from "../identity/caller.js";
import type { IdentityRule } from "../identity/identity-rule.js";
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
  const server = createServer({ eventLoop: false, identities, tokenName });
  t.after(() => server.close());
  server.config.set([clusterResource("web")]);
  const refused: CallerRefused[] = [];
  server.on((event) => event.kind === "caller-refused" && refused.push(event));
  const doors = await doorsOf(server);
  const open = async (token: string): Promise<Called> => {
    const called = callOf((call) => doors.accept({ ...call, method: ads }), token, false);
    called.send(nodeRequest("", { id: "edge", cluster: "" }, ads));
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
