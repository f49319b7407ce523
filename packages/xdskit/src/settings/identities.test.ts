import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, XdskitError } from "@xdskit/api";
import { rulesFrom } from "./identities.js";
import { readSettings } from "./read-settings.js";

function findingsOf(text: string): string[] {
  try {
    readSettings("xdskit.yaml", text);
  } catch (error) {
    assert.ok(error instanceof XdskitError, String(error));
    return error.findings.map(describe);
  }
  return [];
}

test("rules for callers are read, and the files of keys are beside the settings", () => {
  const text = `identities:
  - when: { jwt: { issuer: "https://i", audience: a, jwks: keys.json, claims: { sub: "x:{ns}" } } }
    node: { id: "{ns}.*" }
    groups: [all]
    secrets: true
    max_age: 12h
`;
  const { identities = [] } = readSettings("xdskit.yaml", text);
  assert.deepEqual(identities[0]?.node, { id: "{ns}.*" });
  assert.equal(identities[0]?.maxAgeMs, 12 * 3_600_000);
  assert.match(findingsOf(text.replace("12h", "10s")).join(), /identities\[0\]\.max_age: it is a minute at least/);
  assert.equal(rulesFrom(identities, "/etc/xdskit/xdskit.yaml")[0]?.when.jwt?.jwks, "/etc/xdskit/keys.json");
});

test("what is wrong with a rule is said at its line and field", () => {
  const text = `identities:
  - when: { spiffe: "https://mesh" }
    node: {}
  - when: { dns: "a" }
    node: { id: "{ns}" }
    groups: [edge]
  - when: { jwt: { issuer: i, audience: a, jwks: k, algorithms: [HS256] } }
`;
  const found = findingsOf(text).map((finding) => finding.replace(/: [^:]*$/, ""));
  assert.match(findingsOf(text).join("\n"), /identities\[2\]\.node: expected the nodes that the caller may be/);
  assert.ok(found.length > 0);
  const fixed = text.slice(0, text.indexOf("  - when: { jwt"));
  const messages = findingsOf(fixed).join("\n");
  assert.match(messages, /xdskit\.yaml:2:21: identities\[0\]\.when\.spiffe: it begins with spiffe:\/\//);
  assert.match(messages, /xdskit\.yaml:5:17: identities\[1\]\.node\.id: \{ns\} is in no pattern of "when"/);
});

test("tokens of callers may be reviewed in place of keys, and those of roles may not", () => {
  const jwt = (more: string) => `{ jwt: { issuer: i, audience: a${more} } }`;
  const callers = (more: string) => findingsOf(`identities:\n  - when: ${jwt(more)}\n    node: {}\n`).join();
  assert.equal(callers(", review: true"), "");
  assert.match(callers(""), /identities\[0\]\.when\.jwt\.jwks: expected the issuer's keys, or review: true/);
  assert.match(callers(", review: yes please"), /identities\[0\]\.when\.jwt\.review: expected true/);
  const roles = findingsOf(`roles:\n  - when: ${jwt(", review: true")}\n    may: [read]\n`).join();
  assert.match(roles, /roles\[0\]\.when\.jwt\.review: only identities of serve --kubernetes have tokens reviewed/);
});

test("users of a Unix socket are numbers", () => {
  const found = (unix: string) => findingsOf(`identities:\n  - when: { unix: ${unix} }\n    node: {}\n`).join();
  for (const unix of ["{ uid: 0 }", "{ uid: [1000, 1001] }", "true"]) assert.equal(found(unix), "");
  const wrong =
    /xdskit\.yaml:2:\d+: identities\[0\]\.when\.unix(?:\.uid: expected the number of a|: it must be true, false, or) /;
  for (const unix of ["{ uid: web }", "{ uid: -1 }", "{ uid: [] }", "{}"]) assert.match(found(unix), wrong, unix);
  assert.match(found("yes please"), /when\.unix: expected true, false, or \{ uid: 1000 \}/);
  assert.match(found("{ uid: 1, gid: 1 }"), /when\.unix/);
});

test("a rule names groups that are there, and optional certificates need rules", () => {
  const rule = '{ when: { dns: "a" }, node: {}, groups: [edge] }';
  assert.match(
    findingsOf(`identities: [${rule}]\n`).join(),
    /identities\[0\]\.groups\[0\]: there is no group "edge"; known are all/,
  );
  const tls = "tls: { cert: a, key: b, client_ca: c, client_certs: optional }\n";
  assert.match(findingsOf(tls).join(), /tls\.client_certs: without identities/);
  const replicas = (who: string, asked = ", client_ca: c") =>
    findingsOf(`tls: { cert: a, key: b${asked} }\nreplicas: ${who}\n`).join();
  assert.equal(replicas("{ dns: xdskit.test }"), "");
  assert.match(replicas("{ dns: xdskit.test }", ""), /replicas: without client_ca in tls/);
  assert.match(replicas("{}"), /replicas: it needs a condition/);
  assert.match(replicas("{ spiffe: mesh }"), /replicas\.spiffe: it begins with spiffe:\/\//);
  assert.match(replicas("{ network: 10.0.0.0/8 }"), /replicas: .*network/);
  assert.deepEqual(findingsOf(`${tls}identities: [{ when: { dns: "a" }, node: {} }]\n`), []);
});
