import assert from "node:assert/strict";
import { test } from "node:test";
import { commands, definedCommand } from "../commands.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { variableOf } from "./environment.js";

/** Runs a command with these variables, to its end. */
async function withVariables(variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  Object.assign(process.env, variables);
  try {
    return await inProcessEnds(...args);
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

test("each option of each command has a variable, and the same name means the same everywhere", async () => {
  const found = new Map<string, Set<string>>();
  const values = new Map<string, Set<string>>();
  for (const entry of commands) {
    const { options } = await definedCommand(entry, { out() {}, err() {} }, () => {});
    for (const option of options) {
      const name = variableOf(option) ?? assert.fail(option.flags);
      assert.match(name, /^XDSKIT_[A-Z0-9_]+$/);
      const isSwitch = !option.required && !option.optional;
      found.set(name, (found.get(name) ?? new Set()).add(isSwitch ? "a switch" : "a value"));
      const [value = ""] = /<.*/.exec(option.flags) ?? [];
      values.set(name, (values.get(name) ?? new Set()).add(value));
    }
  }
  // `--wait` has a value that may be left out.
  for (const [name, kinds] of found) assert.equal(kinds.size, 1, `${name}: ${[...kinds].join(", ")}`);
  // These say the same in other words. `--wait` as above.
  for (const said of ["SERVER", "NODE_ID", "NODE_CLUSTER", "LOCALITY", "GROUP", "TYPE", "WAIT"])
    values.delete(`XDSKIT_${said}`);
  for (const [name, kinds] of values) assert.equal(kinds.size, 1, `${name}: ${[...kinds].join(", ")}`);
});

test("an option takes its value from the environment, and the command line wins", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  const json = await withVariables({ XDSKIT_JSON: "true" }, "validate", folder.path);
  assert.equal(json.status, 0, json.err);
  assert.ok(JSON.parse(json.out));
  for (const off of ["false", "0", ""]) {
    const text = await withVariables({ XDSKIT_JSON: off }, "validate", folder.path);
    assert.doesNotMatch(text.out, /^\{/);
  }
  const odd = await withVariables({ XDSKIT_JSON: "maybe" }, "validate", folder.path);
  assert.deepEqual([odd.status, odd.err.split("\n")[0]], [2, "error: XDSKIT_JSON must be true or false, for --json"]);
  const nowhere = { XDSKIT_SERVER: "http://127.0.0.1:1" };
  assert.match((await withVariables(nowhere, "history")).err, /no server runs at http:\/\/127\.0\.0\.1:1/);
  const wins = await withVariables(nowhere, "history", "--server", "http://127.0.0.1:2");
  assert.match(wins.err, /no server runs at http:\/\/127\.0\.0\.1:2/);
  const wrong = await withVariables({ XDSKIT_LIMIT: "many" }, "history");
  assert.equal(wrong.status, 2);
  assert.match(wrong.err, /value 'many' from env 'XDSKIT_LIMIT' is invalid/);
});

test("the admin listener's address and token are not those of a management server that is asked", async () => {
  const variables = { XDSKIT_SERVER: "http://127.0.0.1:1", XDSKIT_TOKEN_FILE: "/nowhere", XDSKIT_TLS_CA: "/nowhere" };
  const { err } = await withVariables(
    { ...variables, XDSKIT_XDS_SERVER: "127.0.0.1:2" },
    "get",
    "cluster",
    "--timeout",
    "5s",
  );
  assert.match(err, /127\.0\.0\.1:2/);
  assert.doesNotMatch(err, /nowhere|127\.0\.0\.1:1\b/);
});

test("where a server listens and keeps its state is nothing to the commands that are called beside it", async () => {
  const variables = { XDSKIT_REST: "127.0.0.1:1", XDSKIT_STATE: "/var/lib/xdskit", XDSKIT_XDS_SERVER: "127.0.0.1:2" };
  const asked = await withVariables(variables, "get", "cluster", "--timeout", "5s");
  assert.match(asked.err, /127\.0\.0\.1:2/);
  const watched = await withVariables({ ...variables, XDSKIT_SERVER: "http://127.0.0.1:1" }, "top", "--count", "1");
  assert.match(watched.err, /no server runs at http:\/\/127\.0\.0\.1:1/);
});

test("variables that no option has cause a warning, and those of other commands and of Kubernetes do not", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  const variables = {
    XDSKIT_GRCP: "127.0.0.1:0",
    XDSKIT_GRPC: "127.0.0.1:0",
    XDSKIT_ETCD_USER: "a:b",
    XDSKIT_PORT: "tcp://10.0.0.1:18000",
    XDSKIT_SERVICE_HOST: "10.0.0.1",
    XDSKIT_SERVICE_PORT_GRPC: "18000",
    XDSKIT_PORT_18000_TCP_ADDR: "10.0.0.1",
    XDSKIT_ADMIN_SERVICE_PORT: "19000",
  };
  const { status, err } = await withVariables(variables, "validate", folder.path);
  assert.equal(status, 0);
  assert.equal(err, 'xdskit: warning: XDSKIT_GRCP is set, and no option has this name; did you mean "XDSKIT_GRPC"?\n');
});
