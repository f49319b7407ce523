import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { createIssuer } from "../../../server/src/testing/identity/issuer.js";
import { Access, type AccessSettings } from "./access.js";
import { hashOfToken } from "./tokens.js";

const tokens = { ci: [hashOfToken("secret")] };
const [may, writes_per_second] = [["write"], 0.1] as const;

/** Whether a request of an address, with these headers, may make another change; undefined: nobody known sent it. */
function writer(settings: AccessSettings) {
  const access = new Access();
  access.use(settings);
  return (remoteAddress: string, headers: object) => {
    const caller = access.callerOf({ socket: { remoteAddress, remotePort: 1 }, headers } as IncomingMessage);
    return typeof caller === "object" ? { rule: caller.rule, takes: caller.takes?.() } : undefined;
  };
}

const byToken = { authorization: "Bearer secret" };

describe("the changes that a role allows each caller", () => {
  it("are of the token, from whatever address of the network that the role names", () => {
    const write = writer({
      tokens,
      roles: [{ when: { token: "ci", network: "2001:db8::/32" }, may, writes_per_second }],
    });
    assert.equal(write("2001:db8::1", byToken)?.takes, true);
    assert.equal(write("2001:db8::2", byToken)?.takes, false);
    assert.equal(write("2001:db8:1::3", byToken)?.takes, false);
  });

  it("are of the role: neither a user with the name of a token nor one in another role has them", () => {
    const write = writer({
      tokens,
      trusted_proxies: { from: ["10.0.0.7"] },
      roles: [
        { when: { network: "10.0.0.0/8" }, may },
        { when: { token: "ci" }, may, writes_per_second },
        { when: { user: "token *" }, may, writes_per_second },
      ],
    });
    assert.deepEqual(write("192.0.2.1", byToken), { rule: "roles[1]", takes: true });
    const user = { "x-forwarded-user": "token ci" };
    // By its place among all roles, also where a proxy's network counts for nothing.
    assert.deepEqual(write("10.0.0.7", user), { rule: "roles[2]", takes: true });
    assert.deepEqual(write("10.0.0.7", user), { rule: "roles[2]", takes: false });
    assert.equal(write("192.0.2.1", byToken)?.takes, false);
  });
});

describe("an open request", () => {
  it("is of its sender by the roles before, until those of now have judged its token", async (t) => {
    const issuer = await createIssuer();
    const waiting: (() => void)[] = [];
    let isSlow = false;
    // An issuer that takes its time.
    t.mock.method(globalThis, "fetch", async () => {
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
      return new Response(JSON.stringify(issuer.jwks));
    });
    const roles = (place: string, sub = "*"): AccessSettings => {
      const jwks = `https://issuer.test/${place}`;
      const jwt = { issuer: "https://issuer", audience: "xdskit", jwks, claims: { sub } };
      return { roles: [{ when: { jwt }, may: ["read"] }] };
    };
    const headers = { authorization: `Bearer ${await issuer.sign("ops")}` };
    const request = { socket: { remoteAddress: "10.0.0.1", remotePort: 1 }, headers } as IncomingMessage;
    const access = new Access();
    access.use(roles("first"));
    await access.judge(request);
    const name = (...meanwhile: ["meanwhile"?]) => {
      const caller = access.callerOf(request, ...meanwhile);
      return typeof caller === "object" ? caller.name : caller;
    };
    const known = name();
    assert.match(known ?? "", /sub ops/);
    isSlow = true;
    for (const [place, sub] of [
      ["second", "*"],
      ["third", "others"],
    ] as const) {
      access.use(roles(place, sub));
      // Whoever begins something now is nobody.
      assert.deepEqual([name(), name("meanwhile")], [undefined, known]);
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([name(), name("meanwhile")], [undefined, known]);
      for (const answer of waiting.splice(0)) answer();
      const judged = sub === "*" ? known : undefined;
      for (let turn = 0; turn < 1_000 && name() !== judged; turn++)
        await new Promise((resolve) => setTimeout(resolve, 1));
      // Until it is judged, it could not be told from one who is nobody.
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual([name(), name("meanwhile")], [judged, judged]);
    }
  });

  it("is of nobody where the judgement takes too long", async (t) => {
    const issuer = await createIssuer();
    let isAway = false;
    t.mock.method(globalThis, "fetch", async () => {
      if (isAway) await new Promise(() => {});
      return new Response(JSON.stringify(issuer.jwks));
    });
    const roles = (place: string): AccessSettings => {
      const jwt = { issuer: "https://issuer", audience: "xdskit", jwks: `https://issuer.test/${place}` };
      return { roles: [{ when: { jwt }, may: ["read"] }] };
    };
    const headers = { authorization: `Bearer ${await issuer.sign("ops")}` };
    const request = { socket: { remoteAddress: "10.0.0.1", remotePort: 1 }, headers } as IncomingMessage;
    const access = new Access();
    access.use(roles("here"));
    await access.judge(request);
    isAway = true;
    access.use(roles("away"));
    assert.equal(typeof access.callerOf(request, "meanwhile"), "object");
    const now = Date.now();
    t.mock.method(Date, "now", () => now + 31_000);
    assert.equal(access.callerOf(request, "meanwhile"), undefined);
  });
});
