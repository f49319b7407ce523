import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { xdskitEnds } from "../testing/command.js";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";

describe("xdskit plan", () => {
  test("prints the stages from one folder to another", async () => {
    await using old = await testFolder({ "c.yaml": clusterYaml("a"), "r.yaml": routesYaml("a") });
    await using next = await testFolder({ "c.yaml": clusterYaml("b"), "r.yaml": routesYaml("b") });
    const { status, out, err } = await xdskitEnds("plan", old.path, next.path);
    assert.deepEqual({ status, err }, { status: 0, err: "" });
    assert.equal(
      out,
      `# cluster "a": removed
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
- name: a
- connect_timeout: 1s

# cluster "b": added
+ "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
+ name: b
+ connect_timeout: 1s

# route "routes": changed
  virtual_hosts:
    - name: all
  …
      routes:
        - match:
            prefix: /
          route:
-           cluster: a
+           cluster: b

3 stages: 1 added, 1 changed, 1 removed
1. at once
     + cluster b
2. once cluster b is acknowledged (warm)
     ~ route routes
3. once the change of route routes is acknowledged
     - cluster a
`,
    );
    const same = await inProcessEnds("plan", old.path, old.path);
    assert.deepEqual(same, { status: 0, signal: null, out: "nothing changes\n", err: "" });
  });

  test("prints JSON with every name", async () => {
    const clusters = (names: readonly string[]) => names.map((name) => clusterYaml(name)).join("---\n");
    const names = Array.from({ length: 20 }, (_, index) => `c${10 + index}`);
    await using old = await testFolder({ "r.yaml": routesYaml("a"), "a.yaml": clusterYaml("a") });
    await using next = await testFolder({ "r.yaml": routesYaml("c10"), "c.yaml": clusters(names) });
    const { status, out } = await inProcessEnds("plan", old.path, next.path, "--json");
    assert.equal(status, 0);
    const route = { type: "route", names: ["routes"] };
    const { changes, ...plans } = JSON.parse(out);
    const [gone] = changes as readonly [object];
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const before = { "@type": typeUrl, name: "a", connectTimeout: "1s" };
    assert.deepEqual(gone, { type: "cluster", typeUrl, name: "a", change: "removed", before, after: null });
    assert.equal(changes.length, 22);
    assert.deepEqual(plans, {
      groups: [
        {
          name: "all",
          state: "planned",
          waits: [],
          stages: [
            { after: [], changes: [{ type: "cluster", added: names, changed: [], removed: [] }] },
            {
              after: [{ kind: "make", ...route, for: { type: "cluster", names: ["c10"] } }],
              changes: [{ type: "route", added: [], changed: ["routes"], removed: [] }],
            },
            {
              after: [{ kind: "break", type: "cluster", names: ["a"], for: route }],
              changes: [{ type: "cluster", added: [], changed: [], removed: ["a"] }],
            },
          ],
        },
      ],
    });
    const text = await inProcessEnds("plan", old.path, next.path);
    assert.match(text.out, /\+ 20 clusters: c10, c11, .* c19 … and 10 more$/m);
    const full = await inProcessEnds("plan", old.path, next.path, "--full");
    assert.match(full.out, /\+ 20 clusters: c10, .* c29$/m);
  });

  test("prints a plan for each group, or for one", async () => {
    const settings = (...groups: readonly string[]) =>
      `groups:\n${groups.map((name) => `  - { name: ${name}, match: { id: ${name} }, folders: [shared, ${name}] }\n`).join("")}`;
    const shared = { "shared/c.yaml": clusterYaml("a") };
    await using old = await testFolder({
      ...shared,
      "xdskit.yaml": settings("edge", "past"),
      "edge/c.yaml": clusterYaml("b"),
      "past/c.yaml": clusterYaml("p"),
    });
    await using next = await testFolder({
      ...shared,
      "xdskit.yaml": settings("next", "edge"),
      "edge/c.yaml": clusterYaml("b", "2s"),
      "next/c.yaml": clusterYaml("n"),
    });
    const all = await inProcessEnds("plan", old.path, next.path);
    assert.equal(all.status, 0, all.err);
    assert.match(
      all.out,
      /\n\ngroup next: new, with 2 clusters;.*\n\ngroup edge: 1 stage: 0 added, 1 changed, 0 removed\n1\. at once\n {5}~ cluster b\n\ngroup past: gone, with 2 clusters;.*\n$/,
    );
    const one = await inProcessEnds("plan", old.path, next.path, "--group", "edge");
    assert.match(
      one.out,
      /^# cluster "b" in edge: changed\n(?:.+\n)+\ngroup edge: 1 stage: .*\n1\. at once\n {5}~ cluster b\n$/,
    );
    const none = await inProcessEnds("plan", old.path, next.path, "--group", "nobody");
    assert.deepEqual([none.status, none.out], [2, ""]);
    assert.match(none.err, /^xdskit plan: there is no group "nobody", only next, edge, past\n$/);
  });

  test("reports errors in either folder with exit status 2, and warnings of the new one beside the plan", async () => {
    await using good = await testFolder({ "c.yaml": clusterYaml("a") });
    await using bad = await testFolder({ "c.yaml": clusterYaml("a", "-1s"), "d.yaml": "name: [" });
    await using dangling = await testFolder({ "r.yaml": routesYaml("nowhere") });
    for (const [old, next] of [
      [good.path, bad.path],
      [bad.path, good.path],
    ]) {
      const { status, out, err } = await inProcessEnds("plan", old ?? "", next ?? "");
      assert.deepEqual({ status, out }, { status: 2, out: "" });
      assert.match(err, /^xdskit plan: .*c\.yaml:3:\d+: .*\[XDSKIT_RULE_BROKEN\]\n {2}.*d\.yaml.*\[XDSKIT_SYNTAX\]\n$/);
    }
    for (const args of [
      [good.path],
      [good.path, join(good.path, "nowhere")],
      [good.path, good.path, "--settings", join(good.path, "no.yaml")],
      [good.path, good.path, "--colour"],
    ]) {
      const { status, out } = await inProcessEnds("plan", ...args);
      assert.deepEqual({ status, out }, { status: 2, out: "" }, args.join(" "));
    }
    const warned = await inProcessEnds("plan", good.path, dangling.path);
    assert.equal(warned.status, 0);
    assert.match(warned.out, /^(2 stages|1 stage): 1 added, 0 changed, 1 removed\n/m);
    assert.match(warned.err, /^warning: .*nowhere.*\[XDSKIT_DANGLING_REFERENCE\]\n$/);
  });
});
