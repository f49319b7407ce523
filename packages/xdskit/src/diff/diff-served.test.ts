import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { served } from "../testing/served.js";
import { addressYaml, workloadSet } from "../testing/workload-set.js";

const settings = `groups:
  - { name: edge, match: { id: edge }, folders: [shared, edge] }
  - { name: rest, match: {}, folders: [shared] }
`;

const twoGroups = `groups:
  - { name: edge, match: { id: edge }, folders: [shared, edge] }
  - { name: mesh, match: {}, folders: [shared, mesh] }
`;

const secretYaml = (text: string) => `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: s
generic_secret: { secret: { inline_string: ${text} } }
`;

const listenerYaml = (name: string, port: number) => `"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: ${name}
address: { socket_address: { address: 10.0.0.1, port_value: ${port} } }
filter_chains: [{}]
`;

describe("xdskit diff of a folder and a running server", () => {
  test("shows the differences if the server served the folder, and nothing of other layers", async () => {
    await using server = await served({ "c.yaml": clusterYaml("a"), "d.yaml": clusterYaml("b") });
    const file = await server.file("more.yaml", clusterYaml("applied"));
    assert.equal((await server.run("apply", "-f", file)).status, 0);
    for (const named of ["--settings", "--descriptors"]) {
      const missing = await server.run("diff", server.folder.path, named, "nowhere");
      assert.deepEqual([missing.status, missing.out], [2, ""], named);
      assert.match(missing.err, /nowhere: .*there is no such file/);
    }
    const same = await server.run("diff", server.folder.path);
    assert.deepEqual([same.status, same.out, same.err], [0, "nothing differs\n", ""]);
    await using other = await testFolder({ "all.yaml": `${clusterYaml("a", "2s")}---\n${clusterYaml("new")}` });
    const { status, out } = await server.run("diff", other.path);
    assert.equal(status, 3);
    assert.deepEqual(out.match(/^# .*$/gm)?.sort(), [
      '# cluster "a": changed',
      '# cluster "b": removed',
      '# cluster "new": added',
    ]);
    assert.match(out, /\n1 stage: 1 added, 1 changed, 1 removed\n/);
    const json = JSON.parse((await server.run("diff", other.path, "--output", "json")).out);
    const [group] = json.groups;
    assert.deepEqual([json.changes.length, json.groups.length, group.name, group.state], [3, 1, "all", "planned"]);
    assert.deepEqual(Object.keys(group).sort(), ["name", "stages", "state", "waits"]);
  });

  test("finds no difference where a number is -0", async () => {
    const zero = `${clusterYaml("a")}metadata: { filter_metadata: { a: { zero: -0.0 } } }\n`;
    await using server = await served({ "c.yaml": zero });
    const same = await server.run("diff", server.folder.path);
    assert.deepEqual([same.status, same.out], [0, "nothing differs\n"]);
    const { out } = await inProcessEnds("get", "-o", "json", "--type", "cluster", "--server", server.grpc);
    assert.match(out, /"zero": -0[,\n]/);
  });

  test("shows the differences of a folder that the server would refuse, and then why", async () => {
    await using server = await served({ "c.yaml": clusterYaml("a"), "r.yaml": routesYaml("a") });
    await using other = await testFolder({ "c.yaml": clusterYaml("b"), "r.yaml": routesYaml("a") });
    const { status, out, err } = await server.run("diff", other.path);
    assert.equal(status, 1);
    assert.deepEqual(out.match(/^# .*$/gm)?.sort(), ['# cluster "a": removed', '# cluster "b": added']);
    assert.match(err, /^xdskit diff: the server would refuse this folder:\n {2}.*"a".*\[XDSKIT_REFERENCE_BROKEN\]\n$/);
    const json = await server.run("diff", other.path, "--output", "json");
    assert.deepEqual([json.status, JSON.parse(json.out).changes.length], [1, 2]);
  });

  test("compares the folders of groups one by one, even if a resource moves between them", async () => {
    const edge = { "edge/r.yaml": routesYaml("a") };
    await using server = await served({ "xdskit.yaml": settings, "shared/c.yaml": clusterYaml("a"), ...edge });
    assert.equal((await server.run("diff", server.folder.path)).status, 0);
    await using moved = await testFolder({
      "xdskit.yaml": settings,
      "shared/other.yaml": clusterYaml("b"),
      ...edge,
      "edge/c.yaml": clusterYaml("a"),
    });
    const { status, out, err } = await server.run("diff", moved.path);
    assert.deepEqual([status, err], [3, ""]);
    assert.deepEqual(out.match(/^# .*$/gm)?.sort(), [
      '# cluster "a" in edge: added',
      '# cluster "a" in shared: removed',
      '# cluster "b" in shared: added',
    ]);
    await using flat = await testFolder({ "one/c.yaml": clusterYaml("a") });
    const wrong = await server.run("diff", flat.path);
    assert.equal(wrong.status, 1);
    assert.match(
      wrong.err,
      /^xdskit diff: the server serves other folders: .*do its settings have the same groups\?\n$/,
    );
  });

  test("says why the server would refuse the folders of groups together, and not what another folder makes good", async () => {
    const files = { "xdskit.yaml": settings, "shared/c.yaml": clusterYaml("a") };
    await using server = await served({ ...files, "edge/r.yaml": routesYaml("a") });
    const applied = await server.file("applied.yaml", `${routesYaml("a")}---\n${listenerYaml("own", 80)}`);
    const differs = async (changed: Readonly<Record<string, string>>) => {
      await using other = await testFolder({ ...files, "edge/r.yaml": routesYaml("a"), ...changed });
      const { status, err } = await server.run("diff", other.path);
      return { status, err: err.replaceAll(other.path, "") };
    };
    const apart = { "shared/c.yaml": clusterYaml("b"), "edge/r.yaml": routesYaml("b") };
    const sound = await differs(apart);
    assert.equal(sound.status, 3);
    assert.doesNotMatch(sound.err, /would refuse/);
    const broken = await differs({ "shared/c.yaml": clusterYaml("b") });
    assert.equal(broken.status, 1);
    assert.match(
      broken.err,
      /^xdskit diff: the server would refuse this folder:\n {2}\/edge\/r\.yaml:1\S*: route "routes", \S+: names cluster "a", .* from group edge; .*\[XDSKIT_REFERENCE_BROKEN\]\n$/,
    );
    assert.equal((await server.run("apply", "-f", applied)).status, 0);
    const named = await differs(apart);
    assert.equal(named.status, 1);
    assert.match(named.err, /would refuse this folder:\n {2}.*names cluster "a", .*\[XDSKIT_REFERENCE_BROKEN\]\n$/);
    const taken = await differs({ "edge/l.yaml": listenerYaml("l", 80) });
    assert.equal(taken.status, 1);
    assert.match(
      taken.err,
      /would refuse this folder:\n {2}\/edge\/l\.yaml:\S+: listener "l", .* as listener "own" \(layer api\).*\[XDSKIT_CLIENTS_REFUSE\]\n$/,
    );
  });

  test("prints the stages of the folders of groups together, each group once, as for two folders", async () => {
    const before = {
      "xdskit.yaml": twoGroups,
      "shared/c.yaml": clusterYaml("two"),
      "edge/r.yaml": routesYaml("two"),
      "mesh/r.yaml": routesYaml("two"),
    };
    await using server = await served(before);
    const differs = async (changed: Readonly<Record<string, string>>) => {
      await using other = await testFolder({ ...before, ...changed });
      const apart = await inProcessEnds("diff", server.folder.path, other.path, "--output", "json");
      const json = await server.run("diff", other.path, "--output", "json");
      const { status, out, err } = await server.run("diff", other.path);
      const { groups } = JSON.parse(json.out);
      assert.deepEqual([status, json.status, json.err], [apart.status, apart.status, err]);
      return { out, err: err.replaceAll(other.path, ""), groups, expected: JSON.parse(apart.out).groups };
    };
    const three = { "edge/r.yaml": routesYaml("three"), "mesh/r.yaml": routesYaml("three") };
    const moved = await differs({ "shared/c.yaml": clusterYaml("three"), ...three });
    assert.deepEqual([moved.groups, moved.err], [moved.expected, ""]);
    assert.deepEqual(moved.out.match(/^group .*$/gm), [
      "group edge: 3 stages: 1 added, 1 changed, 1 removed",
      "group mesh: 3 stages: 1 added, 1 changed, 1 removed",
    ]);
    const harmless = await differs({ "shared/c.yaml": clusterYaml("two", "2s"), "mesh/c.yaml": clusterYaml("four") });
    assert.deepEqual([harmless.groups, harmless.err], [harmless.expected, ""]);
    const lacking = await differs({ "mesh/r.yaml": routesYaml("nowhere"), "shared/d.yaml": clusterYaml("four") });
    assert.deepEqual(lacking.groups, lacking.expected);
    assert.match(
      lacking.err,
      /^warning: \/mesh\/r\.yaml:1\S*: route "routes": names cluster "nowhere", which group mesh lacks \[XDSKIT_DANGLING_REFERENCE\]\n$/,
    );
  });

  test("shows no difference of a secret that the server hides, and changes it where it did", async () => {
    const before = { "xdskit.yaml": settings, "shared/s.yaml": secretYaml("a"), "edge/c.yaml": clusterYaml("a") };
    await using server = await served(before);
    const file = await server.file("applied.yaml", secretYaml("api").replace("name: s", "name: own"));
    assert.equal((await server.run("apply", "-f", file)).status, 0);
    await using same = await testFolder({ ...before, "edge/c.yaml": clusterYaml("b") });
    const unchanged = await server.run("diff", same.path);
    assert.match(unchanged.out, /^group edge: 1 stage: 1 added, 0 changed, 1 removed\n.*\n.*\n.*\n$/m);
    assert.doesNotMatch(unchanged.out + unchanged.err, /secret/);
    await using other = await testFolder({ ...before, "shared/s.yaml": secretYaml("b") });
    const { out, err } = await server.run("diff", other.path);
    assert.equal(err, "");
    assert.deepEqual(out.match(/^ {5}. .*$/gm), ["     ~ secret s", "     ~ secret s"]);
  });

  test("says of which resources of the server it cannot know the stages", async () => {
    await using descriptors = await testFolder();
    const set = join(descriptors.path, "workload.binpb");
    await writeFile(set, workloadSet);
    const files = { "xdskit.yaml": settings, "shared/c.yaml": clusterYaml("a"), "edge/c.yaml": clusterYaml("b") };
    await using server = await served(files, "--descriptors", set);
    const file = await server.file("own.yaml", addressYaml("w"));
    assert.equal((await server.run("apply", "-f", file, "--descriptors", set)).status, 0);
    await using other = await testFolder({ ...files, "edge/c.yaml": clusterYaml("b", "2s") });
    const known = await server.run("diff", other.path, "--descriptors", set);
    assert.deepEqual([known.status, known.err], [3, ""]);
    const { status, out, err } = await server.run("diff", other.path);
    assert.equal(status, 3);
    assert.match(out, /^group edge: 1 stage: 0 added, 1 changed, 0 removed$/m);
    assert.match(
      err,
      /^warning: layer api: \S*Address "\S+": its content on the server cannot be read here, so the stages leave it out: .*\n$/,
    );
  });

  test("has different errors for a folder with errors, a missing one, and no server", async () => {
    await using bad = await testFolder({ "c.yaml": clusterYaml("a", "-1s") });
    await using good = await testFolder({ "c.yaml": clusterYaml("a") });
    const away = ["--server", "http://127.0.0.1:1"];
    const broken = await inProcessEnds("diff", bad.path, ...away);
    assert.deepEqual([broken.status, broken.out], [1, ""]);
    assert.match(broken.err, /c\.yaml:3:\d+: .*\[XDSKIT_RULE_BROKEN\]\n$/);
    assert.equal((await inProcessEnds("diff", `${good.path}/nowhere`, ...away)).status, 2);
    const noServer = await inProcessEnds("diff", good.path, ...away);
    assert.equal(noServer.status, 1);
    assert.match(noServer.err, /^xdskit diff: no server runs at http:\/\/127\.0\.0\.1:1: start one with .*\n$/);
  });
});
