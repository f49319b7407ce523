import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";
import { type DescMessage, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import { clusterOf, clusterWith } from "../../packages/api/src/testing/file-forms/in-file.js";
import { type FileForm, fileForms } from "../../packages/api/src/testing/file-forms/index.js";
import { peer } from "./harness/basics/peers.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { createEnvoyAdmin } from "./harness/peers/envoy-admin.js";

const execute = promisify(execFile);
const admin = '{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}}';

/** A bootstrap in the forms' own language, with a cluster for each. */
function bootstrap(forms: readonly FileForm[], language: "yaml" | "json"): string {
  const clusters = forms.map((form, index) => clusterWith(form, `c${index}`));
  if (language === "json") return `{"admin": ${admin}, "static_resources": {"clusters": [${clusters.join(", ")}]}}`;
  const items = clusters.map((cluster) => `  - ${cluster.trimEnd().replaceAll("\n", "\n    ")}\n`);
  return `admin: ${admin}\nstatic_resources:\n  clusters:\n${items.join("")}`;
}

async function takes(path: string, file: string): Promise<boolean> {
  const args = ["--mode", "validate", "--log-level", "critical", "-c", file];
  return execute(path, args, { timeout: 60_000 }).then(
    () => true,
    () => false,
  );
}

/** Those of the forms that Envoy takes, each in a file of its own. */
async function taken(scene: Scene, path: string, forms: readonly FileForm[]): Promise<readonly string[]> {
  const found: string[] = [];
  const left = [...forms.entries()];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, form] = next;
      const file = join(scene.directory, `one-${index}.${form.form}`);
      await writeFile(file, bootstrap([form], form.form));
      if (await takes(path, file)) found.push(form.text);
    }
  };
  await Promise.all([work(), work()]);
  return found;
}

const registry = envoyRegistry();
const schema = registry.getMessage("envoy.config.cluster.v3.Cluster") as DescMessage;

function canonical(json: JsonObject) {
  return toJson(schema, fromJson(schema, json, { registry }), { registry });
}

/** What Envoy says that it was given, where that is something else than we think. */
async function misread(scene: Scene, path: string, forms: readonly FileForm[], language: "yaml" | "json") {
  const file = join(scene.directory, `all.${language}`);
  const addressFile = join(scene.directory, `admin-${language}`);
  await writeFile(file, bootstrap(forms, language));
  const envoy = scene.start({
    name: "envoy",
    command: path,
    args: [
      ...["--config-path", file, "--admin-address-path", addressFile],
      ...["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning"],
    ],
  });
  const address = await eventually("Envoy's admin address", async () => {
    const text = await readFile(addressFile, "utf8").catch(() => "");
    if (text !== "" || envoy.isRunning()) return text !== "" && text;
    const refused = new Set(forms.map(({ text }) => text));
    for (const text of await taken(scene, path, forms)) refused.delete(text);
    throw new Error(`Envoy refuses: ${JSON.stringify([...refused])}`);
  });
  const clusters = await createEnvoyAdmin(address).staticClusters();
  return forms.flatMap((form, index) => {
    const name = `c${index}`;
    const { "@type": _, ...dumped } = { ...(clusters.get(name)?.resource as JsonObject) };
    const [found, expected] = [canonical(dumped), canonical(clusterOf(form, name, form.envoy ?? {}))];
    const isSame = isDeepStrictEqual(found, expected);
    return isSame ? [] : [`${form.text}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`];
  });
}

async function judge(t: TestContext, language: "yaml" | "json") {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const forms = fileForms.filter(({ form }) => form === language);
  const refused = forms.filter(({ envoy }) => envoy === undefined);
  const good = forms.filter(({ envoy }) => envoy !== undefined);
  await scene.step("takes what the table says that it takes, with that meaning", async () => {
    assert.deepEqual(await misread(scene, path, good, language), []);
  });
  await scene.step("refuses what the table says that it refuses", async () => {
    assert.deepEqual(await taken(scene, path, refused), []);
  });
}

for (const language of ["yaml", "json"] as const) {
  test(`Envoy on the forms of ${language}`, { timeout: 300_000 }, (t) => judge(t, language));
}
