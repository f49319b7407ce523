import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { served } from "../testing/served.js";

const settings = `groups:
  - { name: edge, match: { id: edge }, folders: [shared, edge] }
  - { name: rest, match: {}, folders: [shared] }
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
    assert.deepEqual(Object.keys(group).sort(), ["held", "name", "stages", "state"]);
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
      ...{ "xdskit.yaml": settings, "shared/other.yaml": clusterYaml("b") },
      ...{ ...edge, "edge/c.yaml": clusterYaml("a") },
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
      /^xdskit diff: the server would refuse this folder:\n {2}\/edge\/r\.yaml:1\S*: route "routes": names cluster "a", .* from group edge; .*\[XDSKIT_REFERENCE_BROKEN\]\n$/,
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
