import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, it } from "node:test";
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
