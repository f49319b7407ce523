import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { decodeJwt } from "jose";
import { createIssuer } from "../../../server/src/testing/identity/issuer.js";
import { eventually } from "../testing/command.js";
import { testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";

const cluster = `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: web\n`;
const rights = {
  read: ["read"],
  operate: ["operate"],
  other: ["write:other"],
  write: ["write:api"],
  all: ["read", "operate", "write"],
} as const;
type Holder = keyof typeof rights;
const tokens = Object.fromEntries(Object.keys(rights).map((name) => [name, newToken()])) as Record<Holder, string>;
const lines = (map: (name: Holder) => string) => (Object.keys(rights) as Holder[]).map(map).join("\n");
const settings = `
layers: [{ name: other }, { name: api }]
tokens:
${lines((name) => `  ${name}: ${hashOfToken(tokens[name])}`)}
roles:
${lines((name) => `  - { when: { token: ${name} }, may: ${JSON.stringify(rights[name])} }`)}
`;

/** What each route needs. A new route needs a row here. */
const needed: Readonly<Record<string, Holder>> = {
  "GET /api/v1/diff": "read",
  "GET /api/v1/event-loop": "read",
  "GET /api/v1/events": "read",
  "GET /api/v1/fields/{message}/{path}": "read",
  "GET /api/v1/fleet/map": "read",
  "GET /api/v1/fleet/nodes": "read",
  "GET /api/v1/fleet/summary": "read",
  "GET /api/v1/groups": "read",
  "GET /api/v1/groups/{group}/graph": "read",
  "GET /api/v1/groups/{group}/resources": "read",
  "GET /api/v1/groups/{group}/resources/{type}/{name}": "read",
  "GET /api/v1/layers": "read",
  "POST /api/v1/layers/{layer}/changes": "write",
  "GET /api/v1/layers/{layer}/resources": "read",
  "GET /api/v1/layers/{layer}/resources/{type}/{name}": "read",
  "PUT /api/v1/layers/{layer}/resources/{type}/{name}": "write",
  "DELETE /api/v1/layers/{layer}/resources/{type}/{name}": "write",
  "POST /api/v1/layers/{layer}/rollback": "operate",
  "GET /api/v1/leases": "read",
  "GET /api/v1/leases/{id}": "read",
  "DELETE /api/v1/leases/{id}": "write",
  "POST /api/v1/leases/{id}/renew": "write",
  "GET /api/v1/nodes": "read",
  "GET /api/v1/nodes/{id}": "read",
  "GET /api/v1/nodes/{id}/loads": "read",
  "GET /api/v1/nodes/{id}/resources": "read",
  "GET /api/v1/nodes/{id}/resources/{type}/{name}": "read",
  "GET /api/v1/nodes/{id}/summary": "read",
  "GET /api/v1/nodes/{id}/timeline": "read",
  "GET /api/v1/openapi.json": "read",
  "GET /api/v1/problems": "read",
  "POST /api/v1/quarantines/lift": "operate",
  "GET /api/v1/revisions": "read",
  "GET /api/v1/revisions/{id}": "read",
  "GET /api/v1/revisions/{id}/arrival": "read",
  "GET /api/v1/revisions/{id}/stages": "read",
  "GET /api/v1/rollouts": "read",
  "POST /api/v1/rollouts/{group}/{action}": "operate",
  "GET /api/v1/server": "read",
  "GET /api/v1/sources": "read",
  "GET /api/v1/activity": "read",
  "GET /api/v1/audit": "operate",
  // Beside the API.
  "GET /metrics": "read",
};

/** Whether a holder of a token may call a route that needs this. */
function may(holder: Holder, need: Holder): boolean {
  return holder === "all" || holder === need;
}

describe("roles", () => {
  let server: Served;
  before(async () => {
    server = await served({ "a.yaml": cluster, "xdskit.yaml": settings });
  });
  after(() => server[Symbol.asyncDispose]());

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  async function statusOf(route: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const [method = "", path = ""] = route.split(" ");
    const values: Readonly<Record<string, string>> = { layer: "api", type: "cluster", action: "halt" };
    const url = `${server.admin}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "web")}`;
    const abort = new AbortController();
    const response = await fetch(url, { method, headers, signal: abort.signal });
    // Events have no end.
    abort.abort();
    return response.status;
  }

  test("each route answers only those who may what it needs, and every route is in the table", async () => {
    const answer = await fetch(`${server.admin}/api/v1/openapi.json`, { headers: bearer(tokens.read) });
    const { paths } = (await answer.json()) as {
      readonly paths: Record<string, Record<string, { "x-needs": string }>>;
    };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { "x-needs": need }]) => [`${method.toUpperCase()} ${path}`, need] as const,
      ),
    );
    assert.ok(described.length >= 30);
    for (const [route, need] of described) assert.equal(need, needed[route], route);
    for (const route of new Set([...described.map(([route]) => route), ...Object.keys(needed)])) {
      const need = needed[route] ?? assert.fail(`${route} has no row`);
      assert.equal(await statusOf(route, {}), 401, `${route} without a token`);
      assert.equal(await statusOf(route, bearer(newToken())), 401, `${route} with a wrong token`);
      for (const holder of Object.keys(rights) as Holder[]) {
        const status = await statusOf(route, bearer(tokens[holder]));
        const said = `${route} of ${holder}: ${status}`;
        // A lease of nobody is found by nobody, also by those who may write elsewhere.
        if (may(holder, need)) assert.ok(status !== 401 && status !== 403, said);
        else if (holder === "other" && route.includes("/leases/") && need === "write") assert.equal(status, 404, said);
        else assert.equal(status, 403, said);
      }
    }
  });

  test("what says whether the server lives, and the page itself, are open", async () => {
    for (const path of ["/livez", "/readyz", "/"]) assert.equal((await fetch(`${server.admin}${path}`)).status, 200);
    assert.equal((await fetch(`${server.admin}/api/v1/nothing`)).status, 401);
  });

  test("the author of a revision is who proved it, whatever the body says", async () => {
    const file = await server.file("own.yaml", cluster.replace("web", "own"));
    const token = await server.file("token", `${tokens.all}\n`);
    const body = {
      author: "root",
      upsert: [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "b" }],
    };
    const headers = { ...bearer(tokens.write), "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    const done = await fetch(`${server.admin}/api/v1/layers/api/changes`, sent);
    const { revision } = (await done.json()) as { readonly revision: { readonly author: string } };
    assert.equal(revision.author, "token write");
    const lease = await fetch(`${server.admin}/api/v1/layers/other/changes?lease=30s`, {
      ...sent,
      headers: { ...headers, ...bearer(tokens.all) },
    });
    assert.equal(lease.status, 200);
    const { leases } = (await (
      await fetch(`${server.admin}/api/v1/leases`, { headers: bearer(tokens.read) })
    ).json()) as { readonly leases: readonly { readonly id: string }[] };
    const renew = (token: string) =>
      fetch(`${server.admin}/api/v1/leases/${leases[0]?.id}/renew`, { method: "POST", headers: bearer(token) });
    assert.equal((await renew(tokens.write)).status, 403);
    assert.equal((await renew(tokens.other)).status, 200);
    const applied = await server.run("apply", "-f", file, "--token-file", token);
    assert.equal(applied.status, 0, applied.err);
    const without = await server.run("apply", "-f", file);
    assert.equal(without.status, 1);
    assert.match(without.err, /this server has roles.*XDSKIT_API_LOGIN/s);
    const history = await server.run("history", "--token-file", token);
    assert.match(history.out, /token all/);
    const asked = ["history", "--server", "http://10.255.255.1:19000", "--token-file", token];
    assert.match((await inProcessEnds(...asked)).err, /a token is not sent in plaintext to 10\.255\.255\.1:19000/);
  });

  test("an edit of the settings takes a token away", async () => {
    assert.equal(await statusOf("GET /metrics", bearer(tokens.read)), 200);
    const next = settings.replace(hashOfToken(tokens.read), hashOfToken(newToken()));
    await server.folder.write("xdskit.yaml", next);
    await eventually(
      () => statusOf("GET /metrics", bearer(tokens.read)),
      (status) => status === 401,
    );
    assert.equal(await statusOf("GET /metrics", bearer(tokens.all)), 200);
  });
});

test("a caller that changes too much is told to wait, and no other caller is", async () => {
  const [wild, calm] = [newToken(), newToken()];
  const role = (token: string) =>
    `  - { when: { token: ${token} }, may: [read, operate, write], writes_per_second: 0.01 }`;
  const tokens = `tokens:\n  wild: ${hashOfToken(wild)}\n  calm: ${hashOfToken(calm)}\n`;
  const xdskit = (more: string) => `${tokens}${more}roles:\n${role("wild")}\n${role("calm")}\n`;
  await using server = await served({ "a.yaml": cluster, "xdskit.yaml": xdskit("") });
  const ask = async (token: string, method: string, path: string) =>
    await fetch(`${server.admin}/api/v1/${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  const remove = async (token: string) => await ask(token, "DELETE", "layers/api/resources/cluster/gone");
  assert.equal((await remove(wild)).status, 404);
  const refused = await remove(wild);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  const { code, detail } = (await refused.json()) as { readonly code: string; readonly detail: string };
  assert.equal(code, "XDSKIT_BUSY");
  assert.match(detail, /"token wild" makes more changes than it may: .* raise writes_per_second of roles\[0\]/);
  assert.equal((await ask(wild, "POST", "leases/gone/renew")).status, 429);
  assert.equal((await remove(calm)).status, 404, "another caller");
  assert.equal((await ask(wild, "GET", "layers")).status, 200, "what changes nothing");
  assert.notEqual((await ask(wild, "POST", "layers/api/rollback")).status, 429, "what an operator needs in a hurry");
  // Neither a new connection nor an edit of the settings gives it a new share.
  await server.folder.write("xdskit.yaml", xdskit("trusted_proxies: { from: [10.0.0.7] }\n"));
  await server.running.seen(/settings in use: trusted_proxies/, "err");
  assert.equal((await remove(wild)).status, 429);
});

test("a reader of events is sent away once its token has ended, or is taken away, and no other reader is", async () => {
  const issuer = await createIssuer({ iss: "https://i" });
  await using beside = await testFolder({ "keys.json": JSON.stringify(issuer.jwks) });
  const short = await issuer.sign("ops", 8);
  const { exp = Number.NaN } = decodeJwt(short);
  const [taken, left] = [newToken(), newToken()];
  const jwt = `{ issuer: "https://i", audience: xdskit, jwks: ${beside.path}/keys.json }`;
  const settings = `
tokens: { taken: "${hashOfToken(taken)}", left: "${hashOfToken(left)}" }
roles:
  - { when: { jwt: ${jwt} }, may: [read] }
  - { when: { token: taken }, may: [read] }
  - { when: { token: left }, may: [read] }
`;
  await using server = await served({ "a.yaml": cluster, "xdskit.yaml": settings });
  const abort = new AbortController();
  const read = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${server.admin}/api/v1/events`, { headers, signal: abort.signal });
    assert.equal(response.status, 200);
    const reader = { isOver: false };
    const all = async () => {
      for await (const _ of response.body ?? []);
      reader.isOver = true;
    };
    all().catch(() => {});
    return reader;
  };
  const readers = [await read(short), await read(taken), await read(left)] as const;
  await eventually(async () => readers[0].isOver, Boolean);
  assert.ok(Date.now() >= exp * 1_000);
  assert.deepEqual([readers[1].isOver, readers[2].isOver], [false, false]);
  await server.folder.write("xdskit.yaml", settings.replace(/.*token: taken.*/, ""));
  await eventually(async () => readers[1].isOver, Boolean);
  assert.equal(readers[2].isOver, false);
  abort.abort();
});

test("a user is whom a trusted proxy names, and nobody else", async () => {
  const roles = (from: string) =>
    `trusted_proxies: { from: [${from}], host: xds.example.org }\nroles: [{ when: { user: "*@example.org" }, may: [read, write] }]\n`;
  for (const [from, expected] of [
    ["127.0.0.0/8", [200, 401, 401]],
    ["10.0.0.7", [401, 401, 401]],
  ] as const) {
    await using server = await served({ "a.yaml": cluster, "xdskit.yaml": roles(from) });
    const statuses = [];
    for (const user of ["alice@example.org", "alice@example.org.evil", undefined]) {
      const headers: Record<string, string> = user === undefined ? {} : { "x-forwarded-user": user };
      statuses.push((await fetch(`${server.admin}/api/v1/layers`, { headers })).status);
    }
    assert.deepEqual(statuses, expected);
    if (from !== "127.0.0.0/8") continue;
    const origin = "https://xds.example.org";
    const own = { "x-forwarded-user": "alice@example.org", host: "xds.example.org", origin, "x-xdskit-dashboard": "1" };
    const path = "/api/v1/layers/api/changes";
    const changeBy = (headers: Readonly<Record<string, string>>) =>
      new Promise((resolve, reject) => {
        const options = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
        httpRequest(new URL(path, server.admin), options, (response) => resolve(response.resume().statusCode))
          .on("error", reject)
          .end('{"upsert":[],"delete":[]}');
      });
    assert.equal(await changeBy(own), 200);
    assert.equal(await changeBy({ ...own, host: "evil.example.org", origin: "https://evil.example.org" }), 403);
    assert.equal(await changeBy({ ...own, origin: "https://evil.example.org" }), 403);
  }
});

test("over a Unix socket its file says who may", async () => {
  await using beside = await served({
    "a.yaml": cluster,
    "xdskit.yaml": "roles: [{ when: { unix: true }, may: [read] }]",
  });
  assert.equal((await fetch(`${beside.admin}/api/v1/layers`)).status, 401);
  const path = join(beside.folder.path, ".admin");
  await using server = await served(
    { "a.yaml": cluster, "xdskit.yaml": "roles: [{ when: { unix: true }, may: [read] }]" },
    "--admin",
    `unix:${path}`,
  );
  assert.equal((await inProcessEnds("history", "--server", `unix:${path}`)).status, 0);
  const file = await server.file("own.yaml", cluster);
  const applied = await inProcessEnds("apply", "-f", file, "--server", `unix:${path}`);
  assert.match(applied.err, /"unix" may not write/);
});

test("xdskit token prints a token, and the lines for the settings with its hash", async () => {
  const { status, out, err } = await inProcessEnds("token", "create", "ci");
  assert.equal(status, 0);
  assert.match(out, /^xdskit_[\w-]{43}\n$/);
  assert.ok(err.includes(`ci: ${hashOfToken(out.trim())}`), err);
  assert.ok(!err.includes(out.trim()));
  assert.equal((await inProcessEnds("token", "create", "a b")).status, 2);
});
