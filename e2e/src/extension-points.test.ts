import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { envoyRegistry, missingExtensions } from "@xdskit/api";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { type Case, corpus } from "../../packages/api/src/testing/corpus/index.js";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import { candidateOf, judgeAll, ourVerdict, schemaOf } from "./corpus/judged.js";
import { peer } from "./harness/basics/peers.js";

/** `FIELD = NAME TYPE`: an extension in the place where it belongs. */
const extensionCase = / = (\S+) (\S+)$/;

test("xdskit and a real Envoy know which extensions stand in each place of Envoy's API", {
  timeout: 300_000,
}, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-extension-points-"));
  let judge: EnvoyJudge | undefined;
  t.after(async () => {
    await judge?.close();
    await rm(folder, { recursive: true, force: true });
  });
  judge = await startEnvoyJudge(envoy);
  const { certificate, key } = createAuthority("points").issue("example.org");
  const cases = corpus({ certificate, key, folder }).filter(
    ({ name, breaks }) => breaks === undefined && extensionCase.test(name) && !/lifecycle|drain_aware/.test(name),
  );
  const judged = await judgeAll(cases, judge);
  const taken = judged.filter(({ envoys }) => envoys.is === "taken").map(({ of }) => of);

  await t.test("an extension that Envoy takes is neither missing nor at a wrong place", () => {
    assert.ok(taken.length > 500, `${taken.length} of ${cases.length}`);
    const wrong = taken.flatMap((each) => {
      const missing = missingExtensions(schemaOf(each), candidateOf(each).body, envoyRegistry());
      return [
        ...missing.map(({ type }) => `missing: ${type}`),
        ...[ourVerdict(each) ?? ""].filter((text) => /stands here|needs a type/.test(text)),
      ].map((text) => `${each.name}: ${text}`);
    });
    assert.deepEqual(wrong, []);
  });

  await t.test("an extension that xdskit refuses at its place is refused by Envoy", async () => {
    const fields = new Map(taken.map((each) => [each.field, each]));
    const moved = [...fields.values()].flatMap(misplaced).filter((each) => ourVerdict(each)?.includes("stands here"));
    assert.ok(moved.length > 50, `${moved.length} of ${fields.size}`);
    const verdicts = await judgeAll(moved, judge!);
    assert.deepEqual(
      verdicts.filter(({ envoys }) => envoys.is !== "refused").map(({ of, ours }) => `${of.name}: ${ours}`),
      [],
    );
  });
});

/** The same resource with an extension of another category in the place, and with messages that are no extensions. */
function misplaced(each: Case): readonly Case[] {
  const type = extensionCase.exec(each.name)?.[2] ?? "";
  const other = type.includes("access_loggers")
    ? "filters.http.cors.v3.Cors"
    : "access_loggers.stream.v3.StdoutAccessLog";
  const others: readonly JsonObject[] = [
    { "@type": `type.googleapis.com/envoy.extensions.${other}` },
    { "@type": "type.googleapis.com/google.protobuf.Struct", value: {} },
    { "@type": "type.googleapis.com/google.protobuf.StringValue", value: "a" },
    { "@type": "type.googleapis.com/google.protobuf.Empty" },
  ];
  return others.flatMap((another) => {
    let places = 0;
    const replaced = (json: JsonValue): JsonValue => {
      if (Array.isArray(json)) return json.map(replaced);
      if (typeof json !== "object" || json === null) return json;
      if (json["@type"] === `type.googleapis.com/${type}`) {
        places += 1;
        return another;
      }
      return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replaced(value)]));
    };
    const resource = replaced(each.resource) as JsonObject;
    return places === 0 ? [] : [{ ...each, name: `${each.name}, but ${another["@type"]}`, resource }];
  });
}
