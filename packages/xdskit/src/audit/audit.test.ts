import assert from "node:assert/strict";
import { mkdir, readFile, rename, rmdir, stat } from "node:fs/promises";
import { test } from "node:test";
import { type AuditEntry, AuditLog } from "@xdskit/admin/access";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";

const token = newToken();
const reader = newToken();
const settings = (file: string) => `
audit: { file: ${file} }
tokens: { ci: "${hashOfToken(token)}", metrics: "${hashOfToken(reader)}" }
roles:
  - { when: { token: ci }, may: [read, operate, "write:api"] }
  - { when: { token: metrics }, may: [read] }
`;

const asked = (server: Served, method: string, path: string, shown?: string, body?: string) =>
  fetch(`${server.admin}/api/v1/${path}`, {
    method,
    headers: {
      ...(shown === undefined ? {} : { authorization: `Bearer ${shown}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });

async function linesOf(file: string): Promise<readonly AuditEntry[]> {
  const text = await readFile(file, "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditEntry]));
}

test("the audit has who did what and who was refused, without any secret, and xdskit audit shows it", async () => {
  await using beside = await testFolder();
  const file = `${beside.path}/audit.jsonl`;
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(file) });
  const change = {
    upsert: [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "b", alt_stat_name: "S3CR3T" }],
  };
  await asked(server, "POST", "layers/api/changes", token, JSON.stringify(change));
  await asked(server, "POST", "layers/api/changes", reader, JSON.stringify(change));
  await asked(server, "POST", "layers/api/rollback?S3CR3T", newToken(), "{}");
  await asked(server, "POST", "rollouts/all/halt", token);
  await asked(server, "GET", "layers");
  await asked(server, "GET", "layers", token);
  await asked(server, "DELETE", "layers/api/resources/cluster/b", token);
  await server.folder.write("xdskit.yaml", `${settings(file)}limits: { streams: 5000 }\n`);
  const noted = (wanted: string) =>
    eventually(
      () => linesOf(file),
      (found) => found.some(({ action, result }) => `${action} ${result}` === wanted),
    );
  await noted("settings done");
  await server.folder.write("b.yaml", clusterYaml("b2"));
  await noted("files done");
  await server.folder.write("b.yaml", "no: resource\n");
  const lines = await noted("files failed");
  const short = ({ who, rule, action, target, result, status }: AuditEntry) =>
    [who, rule, action, target, result, status].join(" | ");
  assert.deepEqual(lines.map(short), [
    "token ci | roles[0] | login | /api/v1/layers/api/changes | done | ",
    "token ci | roles[0] | change | /api/v1/layers/api/changes | done | 200",
    "token metrics | roles[1] | login | /api/v1/layers/api/changes | done | ",
    "token metrics | roles[1] | change | /api/v1/layers/api/changes | refused | 403",
    " |  | rollback | /api/v1/layers/api/rollback | refused | 401",
    "token ci | roles[0] | rollout halt | /api/v1/rollouts/all/halt | failed | 409",
    " |  | read | /api/v1/layers | refused | 401",
    "token ci | roles[0] | delete | /api/v1/layers/api/resources/cluster/b | done | 200",
    "the settings file |  | settings | limits | done | ",
    "the folder |  | files | b.yaml | done | ",
    "the folder |  | files | b.yaml | failed | ",
  ]);
  assert.ok(lines.every(({ time, from }) => /^\d{4}-.*Z$/.test(time) && (from === "127.0.0.1" || from === "file")));
  const text = await readFile(file, "utf8");
  for (const secret of [token, reader, hashOfToken(token), "S3CR3T", "xdskit_"])
    assert.ok(!text.includes(secret), secret);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const shown = async (...args: readonly string[]) => (await inProcessEnds("audit", file, ...args)).out;
  assert.match(
    await shown("--result", "refused", "--who", "token *"),
    /^\S+ {2}refused {2}token metrics from 127\.0\.0\.1 {2}change .*\n$/,
  );
  assert.equal((await shown("--action", "rollout*", "--since", "1h", "--output", "json")).split("\n").length, 2);
  assert.equal(await shown("--since", "1ms"), "");
  const page = async (query: string, by = token) => {
    const response = await asked(server, "GET", `audit?${query}`, by);
    return (await response.json()) as {
      readonly isKept: boolean;
      readonly isWhole: boolean;
      readonly entries: AuditEntry[];
    };
  };
  assert.deepEqual(await page(""), { isKept: true, isWhole: true, entries: [...lines].reverse() });
  const two = await page("result=refused&who=*metrics*&limit=2");
  assert.deepEqual(two, {
    isKept: true,
    isWhole: true,
    entries: lines.filter(({ who, action }) => who === "token metrics" && action === "change"),
  });
  assert.deepEqual(await page("limit=1&action=r*"), { isKept: true, isWhole: false, entries: [lines[6]] });
  assert.equal((await asked(server, "GET", "audit", reader)).status, 403);
  assert.equal((await asked(server, "GET", "audit?limit=1001", token)).status, 400);
  const unknown = await inProcessEnds("audit", file, "--action", "foo*");
  assert.deepEqual([unknown.status, unknown.out], [2, ""]);
  assert.match(unknown.err, /^xdskit audit: there is no action "foo\*": known are change, delete, rollback, /);
  const { status, err } = await inProcessEnds("audit", `${beside.path}/none`);
  assert.deepEqual(
    [status, err],
    [1, `xdskit audit: ${beside.path}/none: it does not exist [XDSKIT_FILE_UNREADABLE]\n`],
  );
});

test("the audit has an edit whose resources are skipped for their errors", async () => {
  await using beside = await testFolder();
  const file = `${beside.path}/audit.jsonl`;
  const settings = `on_invalid: skip\naudit: { file: ${file} }\n`;
  await using server = await served({ "a.yaml": clusterYaml("a"), "xdskit.yaml": settings });
  const lines = (count: number) =>
    eventually(
      async () => (await linesOf(file)).filter(({ action }) => action === "files"),
      (found) => found.length >= count,
    );
  await server.folder.write("b.yaml", clusterYaml("b", "-1s"));
  await lines(1);
  await server.folder.write("b.yaml", clusterYaml("b"));
  await lines(2);
  await server.folder.write("c.yaml", `${clusterYaml("c")}---\n${clusterYaml("d", "-1s")}`);
  const found = await lines(3);
  assert.deepEqual(
    found.map(({ target, result }) => `${target} ${result}`),
    ["b.yaml failed", "b.yaml done", "c.yaml done"],
  );
});

test("a login is noted when it comes, and not when its answer ends", async () => {
  await using beside = await testFolder();
  const file = `${beside.path}/audit.jsonl`;
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(file) });
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${reader}` };
  const events = await fetch(`${server.admin}/api/v1/events`, { headers, signal: ending.signal });
  assert.equal(events.status, 200);
  const [login] = await eventually(
    () => linesOf(file),
    (found) => found.length > 0,
  );
  assert.deepEqual([login?.action, login?.who, login?.target], ["login", "token metrics", "/api/v1/events"]);
  ending.abort();
});

test("each route that changes something has a name of its own in the audit", async () => {
  await using beside = await testFolder();
  const file = `${beside.path}/audit.jsonl`;
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(file) });
  const document = await asked(server, "GET", "openapi.json", token);
  const { paths } = (await document.json()) as { readonly paths: Record<string, Record<string, unknown>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (method === "get" ? [] : [`${method.toUpperCase()} ${path}`])),
  );
  const called = (route: string) => route.replaceAll(/\{\w+\}/g, (part) => (part === "{action}" ? "roll-back" : "x"));
  for (const route of routes) {
    const [method = "", path = ""] = called(route).split(" ");
    assert.equal((await asked(server, method, path.replace("/api/v1/", ""), reader)).status, 403, route);
  }
  const lines = await eventually(
    () => linesOf(file),
    (found) => found.length === 2 + routes.length,
  );
  const refused = lines.filter(({ action }) => action !== "login");
  assert.deepEqual(Object.fromEntries(routes.map((route, at) => [route, refused[at]?.action])), {
    "POST /api/v1/layers/{layer}/changes": "change",
    "PUT /api/v1/layers/{layer}/resources/{type}/{name}": "change",
    "DELETE /api/v1/layers/{layer}/resources/{type}/{name}": "delete",
    "POST /api/v1/layers/{layer}/rollback": "rollback",
    "DELETE /api/v1/leases/{id}": "lease end",
    "POST /api/v1/leases/{id}/renew": "lease renew",
    "POST /api/v1/quarantines/lift": "quarantine lift",
    "POST /api/v1/rollouts/{group}/{action}": "rollout roll-back",
  });
});

test("a file that cannot be written stops nothing: the log says so, and the lines come later", async () => {
  await using beside = await testFolder();
  const file = `${beside.path}/audit.jsonl`;
  await mkdir(file);
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(file) });
  assert.equal((await asked(server, "DELETE", "layers/api/resources/cluster/none", token)).status, 404);
  await server.running.seen(/the audit cannot be written: its lines wait/, "err");
  assert.equal((await asked(server, "GET", "layers", token)).status, 200);
  await rmdir(file);
  await server.running.seen(/the audit is written again/, "err");
  const waited = await linesOf(file);
  assert.deepEqual(
    waited.map(({ action, result }) => `${action} ${result}`),
    ["login done", "delete failed"],
  );
  await rename(file, `${file}.1`);
  await asked(server, "DELETE", "layers/api/resources/cluster/none", token);
  await eventually(
    () => linesOf(file),
    (found) => found.length === 1,
  );
});

test("a flood of refusals is counted instead of written, and what waits for a file is bounded", async () => {
  let text = "";
  let isBroken = true;
  const log = new AuditLog({
    append: async (more) => {
      if (isBroken) throw new Error("full");
      text += more;
    },
    failing: () => {},
    retryMs: 1,
  });
  const entry = { who: null, rule: null, from: "10.0.0.1", action: "read", target: "/", result: "refused" } as const;
  for (let at = 0; at < 1_000; at++) log.add(entry);
  for (let at = 0; at < 20_000; at++) log.add({ ...entry, result: "done", target: "x".repeat(10_000) });
  isBroken = false;
  await eventually(
    async () => text,
    (found) => found !== "",
  );
  await log.close();
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
  assert.ok(lines.length <= 10_000);
  assert.equal(lines.length + lines.reduce((sum, { lost = 0 }) => sum + lost, 0), 21_000);
  assert.ok(lines.every(({ target }) => target.length <= 500));
});
