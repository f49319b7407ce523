import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { type Case, corpus } from "../../packages/api/src/testing/corpus/index.js";
import { formatCommands } from "../../packages/api/src/validate/values/format-commands.js";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import { candidateOf, type Judged, judgeAll, ourVerdict } from "./corpus/judged.js";
import { someEnvoys } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";

const typeUrl = (name: string): string => `type.googleapis.com/${name}`;
const type = "envoy.config.listener.v3.Listener";
const extension = (name: string, fields: JsonObject): JsonObject => ({
  name: "a",
  typed_config: { "@type": typeUrl(`envoy.extensions.${name}`), ...fields },
});
/** A listener with an access log of this format. */
const logged = (name: string, inline_string: string): Case => ({
  name,
  breaks: undefined,
  type,
  field: "",
  extensions: [],
  resource: {
    "@type": typeUrl(type),
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    access_log: [
      extension("access_loggers.stream.v3.StdoutAccessLog", { log_format: { text_format_source: { inline_string } } }),
    ],
    filter_chains: [
      { filters: [extension("filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "a", cluster: "a" })] },
    ],
  },
});

/** Formats that no resource of the corpus has. */
const inFilters: readonly Case[] = (
  [
    [
      "ext_authz.v3.ExtAuthz",
      {
        http_service: {
          server_uri: { uri: "http://a", cluster: "backend", timeout: "1s" },
          authorization_request: { headers_to_add: [{ key: "a", value: "a" }] },
        },
      },
    ],
    [
      "local_ratelimit.v3.LocalRateLimit",
      {
        stat_prefix: "a",
        token_bucket: { max_tokens: 1, fill_interval: "1s" },
        rate_limits: [{ actions: [{ source_cluster: {} }], hits_addend: { format: "1" } }],
      },
    ],
  ] satisfies [string, JsonObject][]
).map(([name, fields]) => {
  const manager = extension("filters.network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "a",
    route_config: { name: "a" },
    http_filters: [extension(`filters.http.${name}`, fields), extension("filters.http.router.v3.Router", {})],
  });
  const of = logged(name, "a");
  return { ...of, resource: { ...of.resource, filter_chains: [{ filters: [manager] }] } };
});

const inside = (...texts: readonly string[]): readonly string[] => texts.map((text) => `(${text})`);

/** What may follow a command that takes nothing, right or wrong. */
const fewEndings = ["", "()", ":3", "():3", "(a)", "(a):3", "(a:b)", "(NUMBER)"];
/** The same for others. */
const endings = [
  ...fewEndings,
  ...inside("a:", ":a", "a:b:c", ":", "::", " ", "a?b", "?a", "a?", "a?b?c", "a b", ":a?:b", "a'%!#$&*+.^`|~_-", '"a"'),
  ...inside("a:PLAIN", "a:TYPED:", "a:PLAIN:b", "a:FIELD", "a:FIELD:", "a:FIELD:b:c", ":PLAIN", "a:ms", "a:b:ms"),
  ...inside("a:b:us", "a:b:ns", "a:b:s", "a:b:ms:d", "a::ns", "WQ", "NQ", "ORIG", "PATH", "WQ:ORIG", "NQ:PATH", "WQ:a"),
  ...inside(":ORIG_OR_PATH", "a:PATH", "WQ:PATH:a", "DECODED", "DECODED:a", "HOST", "SNI_ONLY", "SNI_FIRST:ORIG"),
  ...inside("HOST_FIRST:HOST", "SNI_FIRST:HOST:a", "SNI_ONLY:a", ":HOST", "CAMEL_STRING", "SNAKE_STRING", "NUMBER:a"),
  ...inside("camel_string", "DYNAMIC", "CLUSTER", "ROUTE", "UPSTREAM_HOST", "LISTENER", "LISTENER_FILTER_CHAIN"),
  ...inside("VIRTUAL_HOST", "DYNAMIC:a:b", "CLUSTER:a", "dynamic:a", "UPSTREAM_CLUSTER:a", "DYNAMICS", "ROUTE:", "By"),
  ...inside("BY", "hash", "Cert", "Chain", "Subject", "uri", "DNS", "By:a", '{"operators": ["PROTOCOL"]}'),
  ...inside("a:PLAIN", "a:b:ms", "DYNAMIC:a", "By", "WQ", "ORIG", "SNI_ONLY", "NUMBER").map((text) => `${text}:3`),
];

/** What only an Envoy judges: expressions, and what stands in JSON. */
const envoyOnly = /^%(?:CEL|TYPED_CEL|COALESCE)\(/;

test("xdskit takes after each command what an Envoy takes there", { timeout: 300_000 }, async (t) => {
  const asked = [...formatCommands].flatMap(([command, { form }]) =>
    (form === "" ? fewEndings : endings).map((ending) => {
      const text = `%${command}${ending}%`;
      const of = logged(`a format ${text}`, text);
      return { command, text, candidate: candidateOf(of), ours: ourVerdict(of) };
    }),
  );
  // The newest takes all that older ones take.
  for (const name of someEnvoys)
    await t.test(name, async (each) => {
      const envoy = peer(name, each);
      if (envoy === undefined) return;
      const judge = await startEnvoyJudge(envoy);
      each.after(() => judge.close());
      const verdicts = await judge.judge(asked.map(({ candidate }) => candidate));
      const taken = asked.filter((_, index) => verdicts[index]?.is === "taken");
      assert.deepEqual(
        taken.flatMap(({ text, ours }) => (ours === undefined ? [] : [`${text}: ${ours}`])),
        [],
      );
      if (name !== "envoy") return;
      assert.deepEqual(new Set(taken.map(({ command }) => command)), new Set(formatCommands.keys()));
      const refused = asked.filter(({ ours }, index) => ours === undefined && verdicts[index]?.is !== "taken");
      assert.deepEqual(
        refused.flatMap(({ text }) => (envoyOnly.test(text) ? [] : [text])),
        [],
      );
    });
});

test("xdskit and a real Envoy refuse the same commands in all format strings", { timeout: 300_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-formats-"));
  let judge: EnvoyJudge | undefined;
  t.after(async () => {
    await judge?.close();
    await rm(folder, { recursive: true, force: true });
  });
  judge = await startEnvoyJudge(envoy);

  await t.test("a command that xdskit does not know is refused by Envoy in each place", async () => {
    const { certificate, key } = createAuthority("formats").issue("example.org");
    const places = new Map<string, Case>();
    for (const each of corpus({ certificate, key, folder })) {
      if (each.breaks !== undefined || ourVerdict(each) !== undefined) continue;
      for (const [name, changed] of withUnknown(each)) if (!places.has(name)) places.set(name, changed);
    }
    for (const each of inFilters) for (const [name, changed] of withUnknown(each)) places.set(name, changed);
    const refused = [...places.values()].filter((each) => ourVerdict(each)?.includes("is no command of Envoy"));
    const fields = new Set(refused.map(({ name }) => name.replaceAll(/\[\d+\]/g, "")));
    console.log(`${refused.length} of ${places.size} places, ${fields.size} kinds`);
    assert.ok(fields.size > 20, `${[...fields].join("\n")}`);
    const judged = await judgeAll([...places.values()], judge!);
    const misused = refused.map((each) => ({
      ...each,
      resource: JSON.parse(JSON.stringify(each.resource).replaceAll("%NOPE%", "%PROTOCOL(x)%")) as JsonObject,
    }));
    assert.deepEqual(
      (await judgeAll(misused, judge!)).flatMap(({ of, envoys, ours }) =>
        (envoys.is === "taken") === (ours === undefined) ? [] : [`${of.name}: ${ours}`],
      ),
      [],
    );
    const wrong = judged.filter(({ envoys, ours }) => envoys.is === "taken" && ours?.includes("is no command"));
    assert.deepEqual(
      wrong.map(({ of, ours }) => `${of.name}: ${ours}`),
      [],
    );
    const missed = judged.filter(
      ({ envoys, ours }) => reasonOf(envoys).includes("Not supported field") && ours === undefined,
    );
    assert.deepEqual(
      missed.map(({ of, envoys }) => `${of.name}: ${reasonOf(envoys)}`),
      [],
    );
  });
});

function reasonOf(verdict: Judged["envoys"]): string {
  return verdict.is === "refused" ? verdict.reason : "";
}

/** The same resource with an unknown command in each of its texts, by the fields that lead there. */
function* withUnknown(each: Case): Iterable<readonly [string, Case]> {
  for (const path of textsIn(each.resource, [])) {
    const name = `${each.type} ${path.filter((step) => typeof step === "string").join(".")}`;
    const resource = changedAt(each.resource, path) as JsonObject;
    const changed = { ...each, name: `${name} of ${each.name}`, resource };
    if (isMessage(changed)) yield [name, changed];
  }
}

/** Not where a number or a duration is written as text. */
function isMessage(each: Case): boolean {
  try {
    candidateOf(each);
    return true;
  } catch {
    return false;
  }
}

/** Fields that may be formats. */
const mayBeFormat =
  /^(value|string_value|hostname|inline_string|.*format.*|text|host_rewrite|path_rewrite|.*operation|redirect_uri|original_request_uri|proxy_host|target_host)$/;

function* textsIn(json: JsonValue, path: readonly (string | number)[]): Iterable<readonly (string | number)[]> {
  if (typeof json === "string" && path.some((step) => mayBeFormat.test(String(step)))) yield path;
  if (typeof json !== "object" || json === null) return;
  for (const [key, value] of Object.entries(json))
    if (key !== "@type") yield* textsIn(value as JsonValue, [...path, Array.isArray(json) ? Number(key) : key]);
}

function changedAt(json: JsonValue, [step, ...rest]: readonly (string | number)[]): JsonValue {
  if (step === undefined) return "%NOPE%";
  if (Array.isArray(json)) return json.map((item, index) => (index === step ? changedAt(item, rest) : item));
  const object = json as JsonObject;
  return { ...object, [step]: changedAt(object[step] ?? null, rest) };
}
