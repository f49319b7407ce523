import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Where } from "@xdskit/api";
import { eventually } from "../../testing/command.js";
import { clusterYaml, routesYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];

function serving(folder: TestFolder, ...options: readonly string[]): RunningServer {
  return servesHere(
    "serve",
    folder.path,
    ...(options.includes("--state") ? options : ["--state", "off", ...options]),
    "--settle",
    "20ms",
    ...anyPorts,
  );
}

async function address(running: RunningServer, listener: "grpc" | "admin"): Promise<string> {
  await running.seen(/^ready$/m);
  const [, found = ""] = await running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
  return found;
}

/** The clusters of a node, sorted, or what the server says to it. */
async function clusters(running: RunningServer, id: string): Promise<string> {
  const server = await address(running, "grpc");
  const { out, err } = await inProcessEnds(
    "get",
    "--type",
    "cluster",
    "--server",
    server,
    "--node-id",
    id,
    "-o",
    "name",
  );
  return out === "" ? err : out.trim().split("\n").sort().join(" ");
}

/** A client that stays, and prints what it is told. */
function watching(server: string, id: string, variant: string): RunningServer {
  const what = ["--type", "cluster", "--node-id", id, "--variant", variant, "--output", "jsonl"];
  return servesHere("watch", "--server", server, "--ads", ...what);
}

const group = (name: string, match: string, ...folders: readonly string[]) =>
  `{ name: ${name}, match: { id: "${match}" }, folders: [${folders.join(", ")}] }`;
const groups = (...each: readonly string[]) => `groups:\n${each.map((one) => `- ${one}\n`).join("")}`;
const files = { "a/a.yaml": clusterYaml("a"), "b/b.yaml": clusterYaml("b"), "c/c.yaml": clusterYaml("c") };

describe("settings that are edited while the server runs", { concurrency: 4 }, () => {
  it("take nodes to other folders and into other groups, over the streams that they have", async () => {
    await using folder = await testFolder({
      ...files,
      "xdskit.yaml": groups(group("one", "n*", "a", "b"), group("other", "m*", "b")),
    });
    await using running = serving(folder);
    const server = await address(running, "grpc");
    await using delta = watching(server, "n1", "delta");
    await using sotw = watching(server, "m1", "sotw");
    await delta.seen(/"upsert".*"name":"b"/);
    await sotw.seen(/"upsert".*"name":"b"/);
    await folder.write("xdskit.yaml", groups(group("one", "n*", "c", "b"), group("other", "m*", "b")));
    await running.seen(/settings in use: groups/, "err");
    await delta.seen(/"upsert".*"name":"c"/);
    await delta.seen(/"delete".*"name":"a"/);
    assert.doesNotMatch(delta.out(), /"delete".*"name":"b"/);
    assert.equal(await clusters(running, "n2"), "cluster/b cluster/c");
    const api = await (await fetch(`http://${await address(running, "admin")}/api/v1/layers`)).text();
    assert.match(api, /"name":\s*"c"/);
    assert.doesNotMatch(api, /"name":\s*"a"/);
    await folder.write("c/d.yaml", clusterYaml("d"));
    await delta.seen(/"upsert".*"name":"d"/);
    await folder.write("xdskit.yaml", groups(group("one", "m*", "c"), group("other", "n*", "b")));
    await running.seen(/settings in use: groups[\s\S]*settings in use: groups/, "err");
    await sotw.seen(/"delete".*"name":"b"/);
    await sotw.seen(/"upsert".*"name":"d"/);
    await delta.seen(/"delete".*"name":"d"/);
    for (const each of [delta, sotw]) assert.doesNotMatch(each.out(), /"disconnected"/);
    await folder.write("xdskit.yaml", groups(group("one", "m*", "c")));
    await delta.seen(/no group of this server matches the node/);
  });

  it("are not used while the folders that they name have errors, and then are", async () => {
    await using folder = await testFolder({ ...files, "c/c.yaml": "name: no type\n" });
    await folder.write("xdskit.yaml", groups(group("one", "*", "a")));
    await using state = await testFolder();
    await using running = serving(folder, "--state", state.path);
    await address(running, "grpc");
    await folder.write("xdskit.yaml", groups(group("one", "*", "c")));
    await running.seen(/c\.yaml:1.*\n[\s\S]*the new settings cannot be used now/, "err");
    assert.equal(await clusters(running, "n"), "cluster/a");
    await folder.write("a/more.yaml", clusterYaml("more"));
    await eventually(
      () => clusters(running, "n"),
      (names) => names === "cluster/a cluster/more",
    );
    await folder.write("c/c.yaml", clusterYaml("c"));
    await running.seen(/settings in use: groups/, "err");
    assert.equal(await clusters(running, "n"), "cluster/c");
    assert.doesNotMatch(running.err(), /XDSKIT_STORE/);
    // The content that was read with the new settings is the last good revision.
    running.kill("SIGTERM");
    await running.ended();
    await folder.write("c/c.yaml", "name: no type\n");
    await using again = serving(folder, "--state", state.path);
    await again.seen(/its last good revision is served/, "err");
    assert.equal(await clusters(again, "n"), "cluster/c");
  });

  it("are reported as a refused edit of the folder while they cannot be used, beside what is told of it", async () => {
    const [inUse, refused] = [groups(group("one", "*", "a")), groups(group("one", "*", "a", "c"))];
    await using folder = await testFolder({ ...files, "c/c.yaml": "name: no type\n", "xdskit.yaml": inUse });
    await using state = await testFolder();
    await using running = serving(folder, "--state", state.path);
    const server = await address(running, "grpc");
    const admin = `http://${await address(running, "admin")}`;
    const json = async (path: string) => JSON.parse(await (await fetch(`${admin}/api/v1/${path}`)).text());
    const told = async () => {
      const { troubles } = JSON.parse((await inProcessEnds("status", "--json", "--server", server)).out) as {
        readonly troubles: readonly { readonly kind: string; readonly message: string }[];
      };
      const metrics = await (await fetch(`${admin}/metrics`)).text();
      const [source] = (await json("sources")).sources;
      const { problems } = await json("problems");
      return {
        troubles: troubles.map(({ kind }) => kind),
        counted: /^xdskit_config_updates_total\{result="rejected"\} (\d+)$/m.exec(metrics)?.[1],
        errors: /^xdskit_source_findings\{.*severity="error"\} (\d+)$/m.exec(metrics)?.[1],
        state: source.state as string,
        problems: problems.map(({ kind }: { readonly kind: string }) => kind) as readonly string[],
        ready: (await (await fetch(`${admin}/readyz`)).text()).split("\n")[0],
      };
    };
    // An edit of the folder in use, to compare.
    await folder.write("a/more.yaml", "name: no type\n");
    await running.seen(/change refused/, "err");
    const ofEdit = await told();
    assert.deepEqual([ofEdit.troubles, ofEdit.counted, ofEdit.state], [["errors"], "1", "refused"]);
    await folder.write("a/more.yaml", clusterYaml("more"));
    await eventually(
      () => clusters(running, "n"),
      (names) => names === "cluster/a cluster/more",
    );
    // A change is served before its revision is written.
    await eventually(
      async () => (await json("revisions?layer=a")).revisions.length,
      (count) => count === 2,
    );
    const undone = await inProcessEnds("rollback", "--layer", "a", "--server", admin);
    assert.equal(undone.status, 0, undone.err);
    const before = await told();
    assert.deepEqual([before.troubles, before.state], [["rolled-back"], "applied"]);
    const withRefusal = {
      ...ofEdit,
      troubles: ["errors", "rolled-back"],
      counted: "2",
      problems: [...ofEdit.problems, ...before.problems],
    };
    const saidOnce = /the new settings cannot be used now/;
    await folder.write("xdskit.yaml", refused);
    await running.seen(saidOnce, "err");
    assert.deepEqual(await told(), withRefusal);
    assert.equal(running.err().match(/c\.yaml:1/g)?.length, 1, running.err());
    assert.equal(await clusters(running, "n"), "cluster/a");
    // It is tried again, and refused for the same reason.
    await folder.write("xdskit.yaml", `${refused}# again\n`);
    await running.seen(new RegExp(`${saidOnce.source}[\\s\\S]*${saidOnce.source}`), "err");
    assert.deepEqual(await told(), withRefusal);
    assert.doesNotMatch(running.err(), /is not served until/);
    // Settings with an error are not tried, nor those before them any more.
    await folder.write("xdskit.yaml", "groups: none\n");
    await running.seen(/the settings in use stay/, "err");
    assert.deepEqual(await told(), { ...before, counted: "2", problems: ["settings", ...before.problems] });
    await folder.write("xdskit.yaml", refused);
    await eventually(told, ({ troubles }) => troubles.length === 2);
    await folder.write("xdskit.yaml", inUse);
    await running.seen(/the settings file is as it was at the start again/, "err");
    assert.deepEqual(await told(), { ...before, counted: "3" });
    await folder.write("c/c.yaml", clusterYaml("c"));
    await folder.write("xdskit.yaml", refused);
    await running.seen(/settings in use: groups/, "err");
    assert.deepEqual(await told(), { ...before, counted: "3" });
    assert.equal(await clusters(running, "n"), "cluster/a cluster/c");
  });

  it("are refused with the places that name what they would take, and used once these name something else", async () => {
    await using folder = await testFolder({
      ...files,
      "a/r.yaml": routesYaml("a"),
      "xdskit.yaml": groups(group("one", "*", "a")),
    });
    await using running = serving(folder);
    const server = await address(running, "grpc");
    await folder.remove("a/a.yaml");
    await running.seen(/change refused/, "err");
    await folder.write("xdskit.yaml", groups(group("one", "*", "a", "c")));
    await running.seen(/the new settings cannot be used now/, "err");
    const { out } = await inProcessEnds("status", "--json", "--server", server);
    const [trouble, ...more] = JSON.parse(out).troubles;
    assert.match(trouble.message, /a\/r\.yaml:\d+:\d+: route "routes", \S+: names cluster "a"/);
    // The folder in use has the same error.
    assert.deepEqual(more, []);
    assert.equal(
      running.err().match(/r\.yaml:\d+:\d+: route "routes", \S+: names cluster "a"/g)?.length,
      2,
      running.err(),
    );
    await folder.write("a/r.yaml", routesYaml("c"));
    await running.seen(/settings in use: groups/, "err");
    assert.equal(await clusters(running, "n"), "cluster/c");
  });

  it("keep a rollback, which is told once, and count changes on", async () => {
    await using folder = await testFolder({ ...files, "xdskit.yaml": groups(group("one", "*", "a")) });
    await using state = await testFolder();
    await using running = serving(folder, "--state", state.path);
    const admin = `http://${await address(running, "admin")}`;
    await folder.write("a/more.yaml", clusterYaml("more"));
    const revisions = async () => {
      const answer = await (await fetch(`${admin}/api/v1/revisions?layer=a`)).json();
      return (answer as { readonly revisions: readonly { readonly cause: { readonly kind: string } }[] }).revisions;
    };
    await eventually(revisions, (all) => all.length === 2);
    const undone = await inProcessEnds("rollback", "--layer", "a", "--server", admin);
    assert.equal(undone.status, 0, undone.err);
    await folder.write("xdskit.yaml", groups(group("one", "*", "a", "b")));
    await running.seen(/settings in use: groups/, "err");
    assert.equal(await clusters(running, "n"), "cluster/a cluster/b");
    assert.equal(running.err().match(/is rolled back: an older revision/g)?.length, 1);
    await folder.write("b/d.yaml", clusterYaml("d"));
    await running.seen(/configuration applied: 1 resource added or changed.*d\.yaml/, "err");
    assert.doesNotMatch(running.err(), /configuration applied.*revision=0/);
    assert.equal((await revisions())[0]?.cause.kind, "rollback");
  });

  it("remove history at once if less of it is to be kept", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    await using running = serving(folder, "--state", state.path);
    const admin = `http://${await address(running, "admin")}`;
    for (let number = 1; number <= 12; number += 1) {
      const file = await state.write("own.yaml", clusterYaml("own", `${number}s`));
      assert.equal((await inProcessEnds("apply", "-f", file, "--server", admin)).status, 0);
    }
    const count = async () => {
      const answer = await (await fetch(`${admin}/api/v1/revisions?layer=api`)).json();
      return (answer as { readonly revisions: readonly unknown[] }).revisions.length;
    };
    assert.equal(await count(), 12);
    await folder.write("xdskit.yaml", "state: { revisions: 11 }\n");
    await running.seen(/settings in use: state/, "err");
    assert.equal(await count(), 11);
  });

  it("with errors are a problem until they have none, while what is in use is served", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "xdskit.yaml": "references: warn\n" });
    await using running = serving(folder);
    const admin = `http://${await address(running, "admin")}`;
    const problems = async () => {
      const answer = (await (await fetch(`${admin}/api/v1/problems`)).json()) as {
        readonly problems: readonly { kind: string; title: string; detail: string; where: Where | null }[];
      };
      return answer.problems.filter(({ kind }) => kind === "settings");
    };
    const status = async () => (await inProcessEnds("status", "--server", admin)).out;
    assert.deepEqual(await problems(), []);
    await folder.write("xdskit.yaml", "references: sometimes\n");
    await running.seen(/the settings in use stay/, "err");
    const [problem] = await problems();
    assert.match(`${problem?.where?.file}:${problem?.where?.line}`, /xdskit\.yaml:1$/);
    assert.match(problem?.title ?? "", /a restart would fail/);
    assert.match(problem?.detail ?? "", /references: expected strict, refuse or warn/);
    assert.match(
      await status(),
      /a restart would fail: .*xdskit\.yaml:1:13: references: expected strict, refuse or warn/,
    );
    assert.equal(await (await fetch(`${admin}/readyz`)).text(), "ready\n");
    await folder.write("xdskit.yaml", "references: refuse\n");
    await running.seen(/settings in use: references/, "err");
    assert.deepEqual(await problems(), []);
    assert.doesNotMatch(await status(), /a restart would fail/);
  });

  it("are in use by key, and the log says what needs a restart, or is wrong", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "r.yaml": routesYaml("a") });
    await using running = serving(folder);
    await address(running, "grpc");
    await folder.remove("a.yaml");
    await running.seen(/XDSKIT_REFERENCE_BROKEN/, "err");
    await folder.write(
      "xdskit.yaml",
      "references: warn\nlimits: { streams: 1 }\nttl: always\nkeepalive: { interval: 9s }\n",
    );
    await running.seen(/settings in use: (references, limits|limits, references)/, "err");
    await running.seen(/restart to use ttl, keepalive/, "err");
    await running.seen(/configuration applied: 0 resources added or changed, 1 removed/, "err");
    await running.seen(/names cluster "a", which does not exist/, "err");
    await folder.write("xdskit.yaml", "references: sometimes\n");
    await running.seen(/xdskit\.yaml:1:13: references: expected strict, refuse or warn/, "err");
    await running.seen(/the settings in use stay/, "err");
  });
});
