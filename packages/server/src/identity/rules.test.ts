import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { temporaryFolder } from "../testing/basics/temporary-folder.js";
import { type Evidence, noEvidence } from "./evidence.js";
import { checkWhen, createRules, type Proof } from "./rules.js";
import { VerifiedTokens } from "./tokens/verified-tokens.js";
import type { When } from "./when.js";

const authority = createAuthority("mesh");
type Names = Parameters<typeof authority.issue> extends [string, ...infer Rest] ? Rest : never;
const showing = (...names: Names): Evidence => ({
  ...noEvidence,
  address: "10.1.2.3",
  certificate: new X509Certificate(authority.issue("edge-1", ...names).certificate),
});
const proves = (when: When, evidence: Evidence) => createRules([when]).prove(evidence) as Proof | undefined;

test("a SPIFFE ID counts only if it is the one URI of a certificate", () => {
  const when = { spiffe: "spiffe://mesh.example/ns/{ns}/sa/{sa}" };
  const proof = proves(when, showing("URI:spiffe://mesh.example/ns/shop/sa/cart"));
  assert.deepEqual(Object.fromEntries(proof?.captured ?? []), { ns: "shop", sa: "cart" });
  assert.equal(proof?.proved, "spiffe spiffe://mesh.example/ns/shop/sa/cart");
  assert.ok((proof?.endsAt ?? 0) > Date.now());
  for (const names of [
    ["URI:spiffe://mesh.example/ns/shop/sa/cart", "URI:https://other"],
    ["URI:https://other", "URI:spiffe://mesh.example/ns/shop/sa/cart"],
    ["URI:spiffe://mesh.example/ns/shop/sa/.."],
    ["URI:spiffe://mesh.example/ns/shop/sa/cart?x"],
    ["URI:spiffe://other.example/ns/shop/sa/cart"],
    // One name that Node must put into quotes, so that it is not two.
    ["DNS:x, URI:spiffe://mesh.example/ns/shop/sa/cart"],
    ["URI:https://x, URI:spiffe://mesh.example/ns/shop/sa/cart"],
    ["DNS:spiffe://mesh.example/ns/shop/sa/cart"],
  ] satisfies Names[])
    assert.equal(proves(when, showing(...names)), undefined, names.join(" and "));
  assert.equal(proves(when, noEvidence), undefined);
});

test("DNS names, URIs and subjects are compared whole", () => {
  assert.ok(proves({ dns: "edge-*.example.org" }, showing("DNS:other", "DNS:Edge-1.Example.org")));
  assert.equal(proves({ dns: "edge-*.example.org" }, showing("DNS:*.example.org")), undefined);
  assert.equal(proves({ dns: "*.example.org" }, showing("DNS:*.example.org")), undefined);
  assert.equal(proves({ dns: "edge-*.example.org" }, showing("DNS:x, DNS:edge-1.example.org")), undefined);
  assert.ok(proves({ uri: "https://id/{who}" }, showing("URI:https://a", "URI:https://id/b")));
  assert.ok(proves({ subject: "CN=edge-*" }, showing("DNS:x")));
  assert.equal(proves({ subject: "CN=edge" }, showing("DNS:x")), undefined);
});

test("all conditions of a rule must hold, and the first rule that holds wins", () => {
  const rules = createRules([
    { dns: "edge-1.shop", network: ["192.168.0.0/16", "fd00::/8"] },
    { dns: "edge-1.shop", network: "10.0.0.0/8" },
    { dns: "edge-1.shop" },
    { unix: true },
    { token: "ci" },
  ]);
  const index = (evidence: Evidence) => (rules.prove(evidence) as Proof | undefined)?.index;
  assert.equal(index(showing("DNS:edge-1.shop")), 1);
  assert.equal(index({ ...showing("DNS:edge-1.shop"), address: "192.168.3.4" }), 0);
  assert.equal(index({ ...showing("DNS:edge-1.shop"), address: "::1" }), 2);
  assert.equal(index({ ...noEvidence, isUnix: true }), 3);
  assert.equal(index({ ...noEvidence, address: "10.0.0.1", authorization: "Bearer ci" }), undefined);
});

test("a certificate that has ended proves nothing, and a network counts in both families", () => {
  const now = () => Date.now() + 3 * 86_400_000;
  assert.equal(createRules([{ dns: "a" }], { now }).prove(showing("DNS:a")), undefined);
  assert.ok(proves({ network: "fd00::/8" }, { ...noEvidence, address: "fd00::1" }));
  assert.equal(proves({ network: "10.0.0.0/8" }, { ...noEvidence, address: "11.0.0.1" }), undefined);
});

test("a hashed token is asked for by name", () => {
  const rules = createRules([{ token: "ci" }], { tokenName: (token) => (token === "good" ? "ci" : undefined) });
  const proof = rules.prove({ ...noEvidence, authorization: "Bearer good" }) as Proof | undefined;
  assert.equal(proof?.proved, "token ci");
  assert.equal(rules.prove({ ...noEvidence, authorization: "Bearer bad" }), undefined);
  assert.equal(rules.prove({ ...noEvidence, authorization: "Basic good" }), undefined);
  // Two headers of one name are joined by a comma.
  assert.equal(rules.prove({ ...noEvidence, authorization: "Bearer good,Bearer good" }), undefined);
  assert.doesNotMatch(rules.shown({ ...noEvidence, authorization: "Bearer good" }), /good/);
});

test("what is wrong with a rule is said at its field", () => {
  const fields = (when: When) => checkWhen(when).faults.map(({ field }) => field);
  const jwt = { issuer: "i", audience: "a", jwks: "keys.json" };
  assert.deepEqual(fields({ spiffe: "spiffe://*/ns/{ns}" }), ["spiffe"]);
  assert.deepEqual(fields({ network: "10.0.0.0/33" }), ["network"]);
  assert.deepEqual(fields({}), [""]);
  // Of a program without types: a condition that is not asked would let in everybody.
  assert.deepEqual(fields({ tokn: "ci" } as When), [""]);
  for (const wrong of [{ token: 5 }, { spiffe: 5 }, { unix: "yes" }, { network: 10 }, { network: [10] }, { jwt: "x" }])
    assert.deepEqual(fields(wrong as never), Object.keys(wrong));
  assert.deepEqual(fields({ dns: "{a}.x", uri: "https://{a}" }), [""]);
  assert.deepEqual(fields({ jwt: { ...jwt, algorithms: ["HS256"] } }), ["jwt.algorithms"]);
  assert.deepEqual(fields({ jwt: { ...jwt, algorithms: ["none"] } }), ["jwt.algorithms"]);
  assert.deepEqual(fields({ jwt: { ...jwt, jwks: "http://keys" } }), ["jwt.jwks"]);
  assert.deepEqual(fields({ jwt: { ...jwt, claims: { sub: "{a}{b}" } } }), ["jwt.claims.sub"]);
  assert.deepEqual(checkWhen({ jwt: { ...jwt, claims: { sub: "a:{ns}" } } }), { faults: [], names: ["ns"] });
});

async function issuer(kid = "one", alg = "ES256") {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const jwk = { ...(await exportJWK(publicKey)), kid, alg };
  const now = Math.floor(Date.now() / 1_000);
  const sign = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
    new SignJWT({
      iss: "https://issuer",
      aud: ["xdskit"],
      exp: now + 600,
      sub: "system:serviceaccount:shop:cart",
      ...claims,
    })
      .setProtectedHeader({ alg, kid, ...header })
      .sign(privateKey);
  return { jwk, sign, now };
}

const jwtWhen = (jwks: string) => ({
  jwt: { issuer: "https://issuer", audience: "xdskit", jwks, claims: { sub: "system:serviceaccount:{ns}:{sa}" } },
});
const bearing = (token: string): Evidence => ({ ...noEvidence, authorization: `Bearer ${token}` });

test("a token counts with the right issuer, audience, time, key and claims only", async (t) => {
  const { jwk, sign, now } = await issuer();
  const folder = await temporaryFolder(t);
  const jwks = folder.at("keys.json");
  await folder.write("keys.json", JSON.stringify({ keys: [jwk] }));
  const rules = createRules([jwtWhen(jwks)]);
  const proof = await rules.prove(bearing(await sign()));
  assert.deepEqual(Object.fromEntries(proof?.captured ?? []), { ns: "shop", sa: "cart" });
  assert.equal(proof?.endsAt, (now + 600) * 1_000);
  assert.equal(rules.prove(bearing(await sign({ exp: now - 20 }))) instanceof Promise, true);
  assert.ok(await rules.prove(bearing(await sign({ exp: now - 20 }))), "within the skew");
  const other = await issuer();
  const secret = new SignJWT({
    iss: "https://issuer",
    aud: "xdskit",
    exp: now + 600,
    sub: "system:serviceaccount:a:b",
  });
  for (const [what, token] of Object.entries({
    "another issuer": await sign({ iss: "https://other" }),
    "no issuer": await sign({ iss: undefined }),
    "another audience": await sign({ aud: "other" }),
    "no audience": await sign({ aud: undefined }),
    ended: await sign({ exp: now - 60 }),
    endless: await sign({ exp: undefined }),
    "not yet valid": await sign({ nbf: now + 60 }),
    "another key": await other.sign(),
    "an unknown kid": await sign({}, { kid: "two" }),
    "no kid": await sign({}, { kid: undefined }),
    "another subject": await sign({ sub: "system:node:x" }),
    "a longer subject": await sign({ sub: "system:serviceaccount:shop:cart:x" }),
    "a shared secret": await secret
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(new TextEncoder().encode(JSON.stringify(jwk))),
    "no signature": `${Buffer.from('{"alg":"none","kid":"one"}').toString("base64url")}.${(await sign()).split(".")[1]}.`,
    "no token": "x",
  }))
    assert.equal(await rules.prove(bearing(token)), undefined, what);
});

test("a token signed by RSASSA-PSS (PS256) counts, unless the rule names other algorithms", async (t) => {
  const { jwk, sign } = await issuer("one", "PS256");
  const folder = await temporaryFolder(t);
  await folder.write("keys.json", JSON.stringify({ keys: [jwk] }));
  const { jwt } = jwtWhen(folder.at("keys.json"));
  const token = bearing(await sign());
  assert.ok(await createRules([{ jwt }]).prove(token));
  assert.equal(await createRules([{ jwt: { ...jwt, algorithms: ["RS256", "ES256"] } }]).prove(token), undefined);
});

test("rules that replace others know the keys and the tokens of those, also with the issuer away", async (t) => {
  const { jwk, sign } = await issuer();
  const folder = await temporaryFolder(t);
  await folder.write("keys.json", JSON.stringify({ keys: [jwk] }));
  const when = jwtWhen(folder.at("keys.json"));
  const before = createRules([when]);
  const token = await sign();
  assert.ok(await before.prove(bearing(token)));
  await folder.write("keys.json", "away");
  const after = createRules([{ jwt: { ...when.jwt, claims: { sub: "system:serviceaccount:shop:*" } } }]);
  assert.ok(await after.prove(bearing(token)));
  assert.equal(await createRules([{ jwt: { ...when.jwt, audience: "other" } }]).prove(bearing(token)), undefined);
  assert.ok(await before.prove(bearing(await sign())));
});

test("a token is verified once, whoever brings it, and keys that were withdrawn count no more", async (t) => {
  const { jwk, sign } = await issuer();
  const folder = await temporaryFolder(t);
  const jwks = folder.at("keys.json");
  await folder.write("keys.json", JSON.stringify({ keys: [jwk] }));
  const tokens = new VerifiedTokens(jwtWhen(jwks).jwt);
  const token = await sign();
  const storm = await Promise.all(Array.from({ length: 1_000 }, () => tokens.claimsOf(token)));
  assert.ok(storm.every((claims) => claims?.iss === "https://issuer"));
  assert.ok(!(tokens.claimsOf(token) instanceof Promise));
  assert.equal(tokens.verified, 1);
  // Keys that cannot be read do no harm.
  await folder.write("keys.json", "{");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.ok(await tokens.claimsOf(token));
  const second = await issuer("two");
  await folder.replace("keys.json", JSON.stringify({ keys: [second.jwk] }));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.ok(await tokens.claimsOf(await second.sign()), "a new key is found by its kid");
  assert.equal(await tokens.claimsOf(token), undefined, "the old one is gone");
});
