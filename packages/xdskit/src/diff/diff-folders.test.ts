import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { xdskitEnds } from "../testing/command.js";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";

const diff = (...args: readonly string[]) => inProcessEnds("diff", ...args);

const secret = (text: string) => `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: own
generic_secret: { secret: { inline_string: ${text} } }
`;

describe("xdskit diff of two folders", () => {
  test("prints each resource that differs, then the stages, and its status says whether anything differs", async () => {
    await using old = await testFolder({ "c.yaml": clusterYaml("a"), "r.yaml": routesYaml("a") });
    await using next = await testFolder({ "c.yaml": clusterYaml("a", "2s"), "r.yaml": routesYaml("a") });
    const { status, out, err } = await xdskitEnds("diff", old.path, next.path);
    assert.deepEqual({ status, err }, { status: 3, err: "" });
    assert.equal(
      out,
      `# cluster "a": changed
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: a
- connect_timeout: 1s
+ connect_timeout: 2s

1 stage: 0 added, 1 changed, 0 removed
1. at once
     ~ cluster a
`,
    );
    const same = { status: 0, signal: null, out: "nothing changes\n", err: "" };
    assert.deepEqual(await diff(old.path, old.path), same);
  });

  test("finds no difference if a file has another notation or has moved", async () => {
    await using old = await testFolder({ "c.yaml": clusterYaml("a") });
    const json = `{"name": "a", "connectTimeout": "1s", "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster"}`;
    await using next = await testFolder({ "other/c.json": json });
    assert.equal((await diff(old.path, next.path)).status, 0);
  });

  test("names a changed secret without showing it, as text and as JSON", async () => {
    await using old = await testFolder({ "s.yaml": secret("S3CR3T-1") });
    await using next = await testFolder({ "s.yaml": secret("S3CR3T-2") });
    for (const output of ["text", "json"]) {
      const { status, out, err } = await diff(old.path, next.path, "--output", output);
      assert.deepEqual([status, err], [3, ""]);
      assert.match(out, /own/);
      assert.doesNotMatch(out, /S3CR3T/);
    }
    const { out } = await diff(old.path, next.path);
    assert.match(out, /^# secret "own": changed\n {2}\(only in hidden content, such as a secret\)\n/);
  });

  test("prints JSON with every change, both contents, and the stages", async () => {
    await using old = await testFolder({ "c.yaml": clusterYaml("a") });
    await using next = await testFolder({ "c.yaml": clusterYaml("a", "2s") });
    const { status, out } = await diff(old.path, next.path, "--output", "json");
    const { changes, groups } = JSON.parse(out);
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const content = (connectTimeout: string) => ({ "@type": typeUrl, name: "a", connectTimeout });
    const about = { type: "cluster", typeUrl, name: "a", change: "changed" };
    assert.deepEqual([status, changes], [3, [{ ...about, before: content("1s"), after: content("2s") }]]);
    assert.equal(groups[0].stages.length, 1);
  });

  test("says in which folder of the groups a resource differs, and compares one group alone", async () => {
    const settings = `groups:
  - { name: edge, match: { id: edge }, folders: [shared, edge] }
  - { name: rest, match: {}, folders: [shared] }
`;
    const shared = { "xdskit.yaml": settings, "shared/c.yaml": clusterYaml("a") };
    await using old = await testFolder({ ...shared, "edge/c.yaml": clusterYaml("b") });
    await using next = await testFolder({ ...shared, "edge/c.yaml": clusterYaml("b", "2s") });
    assert.match((await diff(old.path, next.path)).out, /^# cluster "b" in edge: changed\n/);
    assert.equal((await diff(old.path, next.path, "--group", "edge")).status, 3);
    assert.equal((await diff(old.path, next.path, "--group", "rest")).status, 0);
    const none = await diff(old.path, next.path, "--group", "nobody");
    assert.deepEqual([none.status, none.err], [2, 'xdskit diff: there is no group "nobody", only edge, rest\n']);
  });

  test("counts different groups as a difference, even if no resource differs", async () => {
    const settings = (folders: string) => `groups:\n  - { name: edge, match: {}, folders: ${folders} }\n`;
    const files = { "one/c.yaml": clusterYaml("a"), "two/c.yaml": clusterYaml("a", "2s") };
    await using old = await testFolder({ ...files, "xdskit.yaml": settings("[one, two]") });
    await using next = await testFolder({ ...files, "xdskit.yaml": settings("[two, one]") });
    const { status, out } = await diff(old.path, next.path);
    assert.deepEqual([status, out.split("\n")[0]], [3, "group edge: 1 stage: 0 added, 1 changed, 0 removed"]);
  });

  test("fails for a folder with errors, and treats a missing one as wrong usage", async () => {
    await using good = await testFolder({ "c.yaml": clusterYaml("a") });
    await using bad = await testFolder({ "c.yaml": clusterYaml("a", "-1s") });
    const broken = await diff(good.path, bad.path);
    assert.deepEqual([broken.status, broken.out], [1, ""]);
    assert.match(broken.err, /^xdskit diff: .*c\.yaml:3:\d+: .*\[XDSKIT_RULE_BROKEN\]\n$/);
    for (const args of [
      [good.path, join(good.path, "nowhere")],
      [good.path, good.path, "--settings", join(good.path, "no.yaml")],
      [good.path, good.path, "--output", "xml"],
      [good.path, good.path, good.path],
    ]) {
      const { status, out } = await diff(...args);
      assert.deepEqual({ status, out }, { status: 2, out: "" }, args.join(" "));
    }
  });
});
