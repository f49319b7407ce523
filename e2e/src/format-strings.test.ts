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

/** What commands take in parentheses: one of these fits each. */
const parameters = [
  "",
  "(a)",
  "(DYNAMIC:a)",
  "(US_TX_BEG:US_RX_BEG:ms)",
  "(1)",
  '({"operators": ["PROTOCOL"]})',
  "(ns:a)",
];

test("xdskit and a real Envoy know the same commands in all format strings", { timeout: 300_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-formats-"));
  let judge: EnvoyJudge | undefined;
  t.after(async () => {
    await judge?.close();
    await rm(folder, { recursive: true, force: true });
  });
  judge = await startEnvoyJudge(envoy);

  await t.test("Envoy knows each command", async () => {
    const asked = [...formatCommands, "NOPE"];
    const cases = asked.flatMap((command) =>
      parameters.map((text, index) => logged(`${command} ${index}`, `%${command}${text}%`)),
    );
    const known = new Set(
      (await judgeAll(cases, judge!))
        .filter(({ envoys }) => envoys.is === "taken" || !reasonOf(envoys).includes("Not supported field"))
        .map(({ of }) => of.name.split(" ")[0]),
    );
    assert.deepEqual(
      asked.filter((command) => !known.has(command)),
      ["NOPE"],
    );
  });

  await t.test("a command that xdskit does not know is refused by Envoy in each place", async () => {
    const { certificate, key } = createAuthority("formats").issue("example.org");
    const places = new Map<string, Case>();
    for (const each of corpus({ certificate, key, folder })) {
      if (each.breaks !== undefined || ourVerdict(each) !== undefined) continue;
      for (const [name, changed] of withUnknown(each)) if (!places.has(name)) places.set(name, changed);
    }
    const refused = [...places.values()].filter((each) => ourVerdict(each)?.includes("is no command of Envoy"));
    const fields = new Set(refused.map(({ name }) => name.replaceAll(/\[\d+\]/g, "")));
    console.log(`${refused.length} of ${places.size} places, ${fields.size} kinds`);
    assert.ok(fields.size > 20, `${[...fields].join("\n")}`);
    const judged = await judgeAll([...places.values()], judge!);
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
