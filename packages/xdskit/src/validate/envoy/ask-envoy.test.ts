import assert from "node:assert/strict";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readResources } from "@xdskit/api";
import { clusterYaml, testFolder } from "../../testing/folder.js";
import { inProcessEnds } from "../../testing/in-process.js";
import { askEnvoy } from "./ask-envoy.js";

const version =
  'case "$1" in --version) echo "/bin/envoy  version: 0123abc/1.40.0/Clean/RELEASE/BoringSSL"; exit;; esac\n';

/** A program that says that it is Envoy 1.40.0, and else does what the script does. */
async function program(folder: string, script: string, first = version): Promise<string> {
  const path = join(folder, "envoy");
  await writeFile(path, `#!/bin/sh\n${first}${script}`);
  await chmod(path, 0o755);
  return path;
}

const resources = (text: string) =>
  readResources({ path: "a.yaml", bytes: Buffer.from(text) }).resources.map(({ resource }) => resource);
const group = { group: "all", resources: resources(clusterYaml("a")) };
const nowhere = () => undefined;

describe("validate --envoy with any program", () => {
  test("treats a path without a program, or with one that is no Envoy, as wrong usage", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a"), text: "no program" });
    const config = join(folder.path, "config");
    for (const [path, says] of [
      [join(folder.path, "nowhere"), "is not there"],
      ["", "is not there"],
      [folder.path, "cannot be run: EACCES"],
      [join(folder.path, "text"), "cannot be run: EACCES"],
      [await program(folder.path, "", "echo 1.40.0; exit\n"), "is no Envoy"],
    ] as const) {
      const { status, out, err } = await inProcessEnds("validate", config, "--envoy", path);
      assert.equal(status, 2, path);
      assert.equal(out, "");
      assert.match(err, new RegExp(`${says}.*\\[XDSKIT_ENVOY_UNUSABLE\\]`));
    }
  });

  test("kills a program that does not end, and reports undecided resources as errors", async () => {
    await using folder = await testFolder({});
    const path = await program(folder.path, "exec sleep 60\n");
    const { findings } = await askEnvoy(path, [group], nowhere, 500);
    assert.deepEqual(
      findings.map(({ code, severity, message }) => ({ code, severity, message })),
      [
        {
          code: "XDSKIT_ENVOY_REFUSES",
          severity: "error",
          message: "Envoy 1.40.0 did not decide about everything in time",
        },
      ],
    );
  });

  test("names the resource if the program crashes, even if it refuses nothing by itself", async () => {
    await using folder = await testFolder({});
    const crashes = await program(folder.path, "kill -SEGV $$\n");
    const [crash] = (await askEnvoy(crashes, [group], nowhere)).findings;
    assert.equal(`${crash?.resource} ${crash?.message}`, "a Envoy 1.40.0 ends because of it: SIGSEGV");
    const refuses = await program(folder.path, "echo no such option >&2; exit 1\n");
    const { findings } = await askEnvoy(refuses, [group], nowhere);
    assert.deepEqual(
      findings.map(({ resource, message }) => `${resource} ${message}`),
      ["a Envoy 1.40.0 refuses it: no such option", "undefined Envoy 1.40.0 refuses it: no such option"],
    );
  });

  test("shows no key in the program's words, and cuts a long text", async () => {
    await using folder = await testFolder({});
    const key = '"-----BEGIN PRIVATE KEY-----\\\\nMIGHAgEA\\\\n-----END PRIVATE KEY-----"';
    const words = `tls_certificates { private_key { inline_string: ${key} } } password: "S3CR3T" ${"x".repeat(5000)}`;
    const script = `cat >&2 <<'END'\n[critical] error initializing configuration '/a/envoy.pb': ${words}\nEND\nexit 1\n`;
    const { findings } = await askEnvoy(await program(folder.path, script), [group], nowhere);
    const said = JSON.stringify(findings);
    assert.match(said, /refuses it: tls_certificates/);
    assert.ok(!/MIGHAgEA|S3CR3T/.test(said), said);
    assert.ok(findings.every(({ message }) => message.length < 1100));
  });

  test("makes the configuration readable only for this user, and removes it afterwards", async (t) => {
    await using folder = await testFolder({ "tmp/a": "" });
    const { TMPDIR } = process.env;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    process.env.TMPDIR = join(folder.path, "tmp");
    const seen = join(folder.path, "seen");
    const path = await program(folder.path, `stat -c %a "$4" "$(dirname "$4")" > ${seen}\ncat "$4" >> ${seen}\n`);
    const { findings, asked } = await askEnvoy(path, [group], nowhere);
    assert.deepEqual([findings, asked], [[], 1]);
    const text = await readFile(seen, "latin1");
    assert.ok(text.startsWith("600\n700\n"), text.slice(0, 20));
    assert.ok(text.includes(group.resources[0]!.name));
    assert.deepEqual(await readdir(process.env.TMPDIR), ["a"]);
  });

  test("does not ask about a folder with errors", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a", "-1s") });
    const path = await program(folder.path, "exit 1\n");
    const { status, out } = await inProcessEnds("validate", join(folder.path, "config"), "--envoy", path);
    assert.equal(status, 1);
    assert.match(out, /^Envoy 1\.40\.0 is asked once there are no errors$/m);
  });
});
