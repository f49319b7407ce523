import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { describe, it, type TestContext } from "node:test";
import { SignJWT } from "jose";
import { createServer } from "../../index.js";
import { noEvidence } from "../evidence.js";
import { checkWhen, createRules } from "../rules.js";
import type { TokenReview } from "./reviewed-tokens.js";

const sub = "system:serviceaccount:shop:cart";
const jwt = { issuer: "https://issuer", audience: "xdskit", claims: { sub: "system:serviceaccount:{ns}:{sa}" } };
const when = { jwt: { ...jwt, review: true } } as const;

/** The key says nothing here: only the review does. */
async function token(more: object = {}): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const claims = { iss: "https://issuer", aud: ["xdskit"], sub, exp, ...more };
  return await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32));
}

/** An API server, for which the test answers. */
function reviewer() {
  const asked: string[] = [];
  const own = { asked, answer: async (_token: string): Promise<string | undefined> => sub };
  const review: TokenReview = async (text, audiences) => {
    assert.deepEqual(audiences, ["xdskit"]);
    asked.push(text);
    return await own.answer(text);
  };
  const rules = createRules([when], { reviewToken: review });
  const proves = async (text: string) =>
    (await rules.prove({ ...noEvidence, authorization: `Bearer ${text}` }))?.proved;
  return { own, asked, proves };
}

function later(t: TestContext, ms: number): void {
  const real = performance.now.bind(performance);
  t.mock.method(performance, "now", () => real() + ms);
}

const isGood = `jwt of https://issuer sub ${sub}`;
const away = async () => {
  throw new Error("away");
};

describe("tokens that are reviewed", () => {
  it("are asked about once for many callers, and count for two minutes", async (t) => {
    const { own, asked, proves } = reviewer();
    const text = await token();
    const storm = await Promise.all(Array.from({ length: 100 }, () => proves(text)));
    assert.deepEqual([new Set(storm), asked.length], [new Set([isGood]), 1]);
    own.answer = async () => undefined;
    assert.equal(await proves(text), isGood);
    later(t, 121_000);
    // Its pod was deleted.
    assert.equal(await proves(text), undefined);
    assert.equal(await proves(text), undefined);
    assert.equal(asked.length, 3);
  });

  it("hold until they end while nobody answers, and others are refused", async (t) => {
    const { own, asked, proves } = reviewer();
    const soon = Math.floor(Date.now() / 1_000) + 1;
    const [text, ending] = [await token(), await token({ exp: soon - 29 })];
    assert.deepEqual([await proves(text), await proves(ending)], [isGood, isGood]);
    own.answer = away;
    later(t, 121_000);
    assert.equal(await proves(text), isGood);
    const before = asked.length;
    assert.equal(await proves(await token({ jti: "new" })), undefined);
    // Nobody is asked again at once: thousands may wait.
    assert.equal(asked.length, before);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, (soon + 1) * 1_000 - Date.now())));
    assert.equal(await proves(ending), undefined, "it has ended");
    own.answer = async () => sub;
    later(t, 125_000);
    assert.equal(await proves(await token({ jti: "new" })), isGood);
  });

  it("are asked about only if they could be good here", async () => {
    const { asked, proves } = reviewer();
    const ended = Math.floor(Date.now() / 1_000) - 60;
    for (const more of [
      { iss: "https://other" },
      { aud: "other" },
      { exp: ended },
      { exp: undefined },
      { sub: undefined },
    ])
      assert.equal(await proves(await token(more)), undefined, JSON.stringify(more));
    assert.equal(await proves("x.y.z"), undefined);
    assert.equal(asked.length, 0);
    // The review knows whose it is.
    assert.equal(await proves(await token({ sub: "system:serviceaccount:bank:vault" })), undefined);
    assert.equal(asked.length, 1);
  });

  it("are asked about twenty at once", async () => {
    const { own, asked, proves } = reviewer();
    const waiting: (() => void)[] = [];
    own.answer = () => new Promise((resolve) => waiting.push(() => resolve(sub)));
    const texts = await Promise.all(Array.from({ length: 50 }, (_, jti) => token({ jti: `${jti}` })));
    const all = Promise.all(texts.map(proves));
    const turns = async () => await new Promise((resolve) => setTimeout(resolve, 20));
    for (const most of [20, 40, 50]) {
      for (let round = 0; asked.length < most && round < 100; round++) await turns();
      await turns();
      assert.equal(asked.length, most);
      for (const answer of waiting.splice(0)) answer();
    }
    assert.deepEqual(new Set(await all), new Set([isGood]));
  });

  it("that were good are not refused for thousands of others, and come before them", async (t) => {
    const { own, asked, proves } = reviewer();
    const text = await token();
    assert.equal(await proves(text), isGood);
    const waiting: (() => void)[] = [];
    own.answer = (one) => new Promise((resolve) => waiting.push(() => resolve(one === text ? sub : undefined)));
    later(t, 121_000);
    const [head, payload] = text.split(".");
    let refused = 0;
    const forged = Array.from({ length: 5_100 }, async (_, index) => {
      assert.equal(await proves(`${head}.${payload}.${index}`), undefined);
      refused += 1;
    });
    const turns = async () => await new Promise((resolve) => setTimeout(resolve, 20));
    for (let round = 0; refused < 80 && round < 500; round++) await turns();
    assert.deepEqual([asked.length, refused], [21, 80], "all places are taken, and nobody more may wait");
    const good = proves(text);
    for (let round = 0; asked.at(-1) !== text && round < 50; round++) {
      await turns();
      waiting.shift()?.();
      await turns();
    }
    assert.equal(asked.at(-1), text);
    waiting.pop()?.();
    assert.equal(await good, isGood);
    own.answer = away;
    for (const answer of waiting) answer();
    await Promise.all(forged);
  });

  it("need somebody who reviews, and no keys", async () => {
    const faults = (more: object, mayReview = true) =>
      checkWhen({ jwt: { ...jwt, ...more } }, { mayReview }).faults.map(({ field }) => field);
    assert.deepEqual(faults({ review: true }), []);
    assert.deepEqual(faults({ review: true }, false), ["jwt.review"]);
    assert.deepEqual(faults({}), ["jwt.jwks"]);
    assert.deepEqual(faults({ review: true, jwks: "keys.json" }), ["jwt.jwks"]);
    assert.deepEqual(faults({ review: true, algorithms: ["ES256"] }), ["jwt.algorithms"]);
    assert.deepEqual(faults({ review: "yes" }), ["jwt.review"]);
    const identities = [{ when, node: {} }];
    assert.throws(
      () => createServer({ identities }),
      /identities\[0\]\.when\.jwt\.review: only identities of serve --kubernetes/,
    );
    const server = createServer({ identities, reviewToken: async () => undefined });
    server.reconfigure({ identities });
    await server.close();
    const without = createServer();
    assert.throws(() => without.reconfigure({ identities }), /only identities of serve --kubernetes/);
    await without.close();
  });
});
