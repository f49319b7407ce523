import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { spokenServer } from "./testing/spoken-server.js";
import { createTokenReview } from "./token-review.js";

describe("a review of a token", () => {
  it("asks the API server, and is good only for an audience that was asked for", async (t) => {
    const server = await spokenServer(t);
    const failures: (string | undefined)[] = [];
    const failed = (error: Error | undefined) => failures.push(error?.message);
    const review = createTokenReview({ connection: server.connection, failed });
    const answered = async (status: object) => {
      const good = review("abc", ["xdskit", "other"]);
      const asked = await server.asked();
      assert.deepEqual([asked.method, asked.path], ["POST", "/apis/authentication.k8s.io/v1/tokenreviews"]);
      assert.deepEqual((asked.body as { spec: object }).spec, { token: "abc", audiences: ["xdskit", "other"] });
      asked.end(201, { kind: "TokenReview", status });
      return await good;
    };
    const user = { username: "system:serviceaccount:shop:cart" };
    assert.equal(await answered({ authenticated: true, user, audiences: ["xdskit"] }), user.username);
    assert.equal(await answered({ authenticated: true, user }), undefined);
    const others = ["https://kubernetes.default.svc"];
    assert.equal(await answered({ authenticated: true, user, audiences: others }), undefined);
    assert.equal(await answered({ authenticated: false, user, audiences: ["xdskit"], error: "expired" }), undefined);
    assert.deepEqual(failures, [undefined, undefined, undefined, undefined]);
    // A handshake takes ten times as long as a review, and anyone can make tokens that must be reviewed.
    assert.equal(server.connections, 1);
  });

  it("rejects if the API server does not say, and tells why, without the token", async (t) => {
    const server = await spokenServer(t);
    const failures: (Error | undefined)[] = [];
    const review = createTokenReview({ connection: server.connection, failed: (error) => failures.push(error) });
    const refused = review("abc", ["xdskit"]);
    (await server.asked()).end(403, { message: "tokenreviews is forbidden" });
    await assert.rejects(refused, /tokenreviews is forbidden/);
    // A server may end a connection while the next question is on its way: that is asked again, once.
    const late = review("abc", ["xdskit"]);
    (await server.asked()).cut();
    (await server.asked()).end(201, { status: { authenticated: false } });
    assert.equal(await late, undefined);
    const away = review("abc", ["xdskit"]);
    (await server.asked()).cut();
    await assert.rejects(away);
    assert.deepEqual(failures.splice(1, 1), [undefined]);
    assert.equal(failures.length, 2);
    assert.match(failures[0]?.message ?? "", /forbidden; allow it with the role in deploy\/kubernetes\/tokenreviews/);
    assert.ok(failures.every((error) => error !== undefined && !error.message.includes("abc")));
  });
});
