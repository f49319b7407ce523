import assert from "node:assert/strict";
import { test } from "node:test";
import { main } from "../main.js";

/** Exit status, and what stands on standard error. */
async function run(...args: readonly string[]): Promise<readonly [number, string]> {
  let err = "";
  const out = (text: string) => assert.fail(text);
  const status = await main(args, { out, err: (text) => (err += text) });
  return [status, err];
}

const wrong: readonly (readonly [string, RegExp])[] = [
  ["", /say what to ask for, as in: xdskit (get|watch) cluster/],
  ["web", /there is no type "web".*without --type the first word is the type/],
  ["routes/web", /"routes\/web" looks like a name: add --type/],
  ["xdstp://a/envoy.config.cluster.v3.Cluster/web cluster", /looks like a name: add --type/],
  ["--type clutser", /there is no type "clutser"/],
  ["--type cds --variant rest", /Allowed choices are sotw, delta/],
  ["--type cds --output xml", /Allowed choices are yaml, json, jsonl, name, wide/],
  ["--type cds --api v1", /Allowed choices are v2, v3/],
  ["--type cds --nonsense", /unknown option '--nonsense'/],
  ["--type cds --metadata stage", /Expected KEY=VALUE/],
  ["--type cds --metadata a={b", /must be JSON/],
  ["--type cds --timeout 5", /its unit/],
  ["--type cds --refresh-delay soon --rest http://127.0.0.1:1", /Expected a duration/],
  ["--type cds --refresh-delay 1s", /--refresh-delay is for --rest/],
  ["--type cds --watched-directory x", /--watched-directory is for --path/],
  ["--type cds --rest http://127.0.0.1:1 --server 127.0.0.1:1", /--rest and --server exclude each other/],
  ["--type cds --rest http://127.0.0.1:1 --variant delta", /REST is state of the world/],
  ["--type cds --path x --ads", /--path and --ads exclude each other/],
  ["--type cds --bootstrap x --server 127.0.0.1:1", /--bootstrap and --server exclude each other/],
  ["--type cds --tls-cert x", /--tls-cert and --tls-key need each other/],
  ["--type cds --bootstrap /nowhere/at/all", /XDSKIT_FILE_UNREADABLE/],
  ["--type cds --server nowhere", /"nowhere" is not HOST:PORT/],
  // The given value is not repeated: it may hold a password.
  ["--type cds --rest nowhere", /URL of a server over REST is http:/],
  ["--type cds --tls-ca /nowhere/at/all", /./],
  ["--type vhds --variant sotw", /--variant delta/],
];

for (const command of ["get", "watch"]) {
  test(`xdskit ${command} explains wrong usage, and ends with 2`, async () => {
    for (const [args, message] of wrong) {
      const [status, err] = await run(command, ...args.split(" ").filter((arg) => arg !== ""));
      assert.equal(status, 2, `${args}\n${err}`);
      assert.match(err, message);
    }
  });
}

test("only watch takes names from standard input", async () => {
  const [status, err] = await run("get", "--type", "cds", "--stdin");
  assert.equal(status, 2);
  assert.match(err, /unknown option '--stdin'/);
});
