import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { xdskitWithInput } from "../testing/command.js";
import { clusterYaml, routesYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { passing } from "../testing/passing.js";
import { type Served, served } from "../testing/served.js";

let server: Served;
before(async () => {
  server = await served({ "c.yaml": clusterYaml("folder") });
});
after(() => server[Symbol.asyncDispose]());

/** The clusters that clients get, as `name=timeout`. */
async function clusters(): Promise<string> {
  const { out } = await inProcessEnds("get", "cluster", "--server", server.grpc, "-o", "jsonl");
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const found = events.filter(({ event }) => event === "upsert");
  return found
    .map(({ name, resource }) => `${name}=${resource.connectTimeout}`)
    .sort()
    .join(" ");
}

/** Makes the layer hold exactly this. */
async function begin(...texts: readonly string[]): Promise<void> {
  const file = await server.file("begin.yaml", texts.join("---\n"));
  assert.equal((await server.run("apply", "-f", file, "--prune")).status, 0);
}

describe("xdskit apply", () => {
  test("puts resources into the layer, says what changed, and changes nothing the second time", async () => {
    await begin(clusterYaml("old"));
    const file = await server.file("web.yaml", `${clusterYaml("web")}---\n${clusterYaml("old", "2s")}`);
    const first = await server.run("apply", "-f", file, "--message", "two more");
    assert.deepEqual([first.status, first.err], [0, ""]);
    assert.match(
      first.out,
      /^~ cluster "old"\n\+ cluster "web"\nrevision \S{10} of layer api: 1 added, 1 changed\n$|^\+ cluster "web"\n~ cluster "old"\nrevision \S{10} of layer api: 1 added, 1 changed\n$/,
    );
    assert.equal(await clusters(), "folder=1s old=2s web=1s");
    const again = await server.run("apply", "-f", file);
    assert.deepEqual([again.status, again.out], [0, "layer api: nothing changes\n"]);
    const { out } = await server.run("history", "--layer", "api", "--limit", "1");
    assert.match(out, /two more \(api\)\n$/);
  });

  test("shows the differences and the stages with --dry-run, ends with 3, and changes nothing", async () => {
    await begin(clusterYaml("web"));
    const file = await server.file("web.yaml", clusterYaml("web", "5s"));
    const { status, out, err } = await server.run("apply", "-f", file, "--dry-run");
    assert.deepEqual([status, err], [3, ""]);
    assert.equal(
      out,
      `# cluster "web": changed
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: web
- connect_timeout: 1s
+ connect_timeout: 5s

1 stage: 0 added, 1 changed, 0 removed
1. at once
     ~ cluster web
dry run, layer api: 1 changed; nothing was done
`,
    );
    assert.equal(await clusters(), "folder=1s web=1s");
    // The folder has this one: the layer gets it, and what nodes are served of it changes.
    const over = await server.file("over.yaml", clusterYaml("folder", "5s"));
    assert.equal(
      (await server.run("apply", "-f", over, "--dry-run")).out,
      `# cluster "folder": changed
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: folder
- connect_timeout: 1s
+ connect_timeout: 5s

1 stage: 0 added, 1 changed, 0 removed
1. at once
     ~ cluster folder
dry run, layer api: 1 added; nothing was done
`,
    );
    const same = await server.file("same.yaml", clusterYaml("web"));
    const nothing = await server.run("apply", "-f", same, "--dry-run");
    assert.deepEqual([nothing.status, nothing.out], [0, "dry run, layer api: nothing changes\n"]);
  });

  test("reads several files, folders and standard input", async () => {
    const one = await server.file("several/one.yaml", clusterYaml("one"));
    await server.file(
      "several/deep/two.json",
      '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"two"}',
    );
    const { status } = await server.run("apply", "-f", one.replace(/one\.yaml$/, ""), "--prune");
    assert.equal(status, 0);
    assert.equal(await clusters(), "folder=1s one=1s two=undefined");
    await using command = xdskitWithInput("apply", "-f", "-", "--server", server.admin);
    command.input(clusterYaml("three"));
    command.input();
    assert.equal((await command.ended()).status, 0, command.err());
    assert.equal(await clusters(), "folder=1s one=1s three=1s two=undefined");
  });

  test("names file and line of an error, and sends nothing", async () => {
    await begin(clusterYaml("web"));
    const bad = await server.file("bad.yaml", `${clusterYaml("a")}---\n${clusterYaml("b", "-1s")}`);
    const { status, out, err } = await server.run("apply", "-f", bad);
    assert.deepEqual([status, out], [1, ""]);
    assert.match(
      err,
      /^\S*bad\.yaml:7:\d+: cluster "b", connect_timeout: .*\[XDSKIT_RULE_BROKEN\]\nxdskit apply: nothing was sent: 1 error\n$/,
    );
    const other = await server.file("other.yaml", clusterYaml("a"));
    const twice = await server.run("apply", "-f", other, "-f", other);
    assert.equal(twice.status, 1);
    assert.match(twice.err, /^\S*other\.yaml:1:\d+: cluster "a": .*other\.yaml:1 .*\[XDSKIT_DUPLICATE_RESOURCE\]/);
    assert.equal(await clusters(), "folder=1s web=1s");
  });

  test("adds the resource's file and line to a warning of the server", async () => {
    await begin(clusterYaml("web"));
    const file = await server.file("r.yaml", `${clusterYaml("web")}---\n${routesYaml("nowhere")}`);
    const { status, err } = await server.run("apply", "-f", file, "--dry-run");
    assert.equal(status, 3);
    assert.match(err, /^warning: \S*r\.yaml:5:\d+: route "routes".*nowhere.*\[XDSKIT_DANGLING_REFERENCE\]\n$/);
  });

  test("adds file and line to a refusal of the server, and nothing changes", async () => {
    await begin(clusterYaml("web"), routesYaml("web"));
    const file = await server.file("r.yaml", routesYaml("web"));
    const { status, out, err } = await server.run("apply", "-f", file, "--prune");
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /^xdskit apply: .*route "routes".*web.*\[XDSKIT_REFERENCE_BROKEN\]\n$/);
    const deleted = await server.run("delete", "cluster", "web");
    assert.equal(deleted.status, 1);
    assert.match(deleted.err, /^xdskit delete: .*"routes".*\[XDSKIT_REFERENCE_BROKEN\]\n$/);
    assert.equal(await clusters(), "folder=1s web=1s");
    assert.equal((await server.run("delete", "route", "routes")).status, 0);
  });

  test("removes all other resources with --prune and lists them, and refuses an empty file", async () => {
    await begin(clusterYaml("stays"), clusterYaml("goes"));
    const file = await server.file("stays.yaml", clusterYaml("stays"));
    const { status, out } = await server.run("apply", "-f", file, "--prune");
    assert.equal(status, 0);
    assert.match(out, /^- cluster "goes"\nrevision \S{10} of layer api: 1 removed\n$/);
    const empty = await server.file("empty.yaml", "# nothing\n");
    for (const prune of [[], ["--prune"]]) {
      const refused = await server.run("apply", "-f", empty, ...prune);
      assert.deepEqual([refused.status, refused.out], [1, ""]);
      assert.match(
        refused.err,
        prune.length > 0 ? /--prune would remove all of the layer/ : /there is no resource in it\n$/,
      );
    }
    assert.equal(await clusters(), "folder=1s stays=1s");
  });

  test("sends names, aliases, TTLs and secrets as they are, and shows no secret", async () => {
    const wrapped = `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource
name: web
aliases: [other]
ttl: 3600s
resource:
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: web
`;
    const secret = `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: own
generic_secret: { secret: { inline_bytes: UzNDUjNU } }
`;
    await begin(clusterYaml("a"));
    const file = await server.file("all.yaml", `${wrapped}---\n${secret}`);
    for (const how of [["--dry-run"], ["--output", "json"]]) {
      const { out, err } = await server.run("apply", "-f", file, ...how);
      assert.doesNotMatch(out + err, /S3CR3T|UzNDUjNU/);
    }
    const { out } = await inProcessEnds("get", "cluster", "other", "--server", server.grpc, "-o", "jsonl");
    const { aliases, ttl } = JSON.parse(out.split("\n").find((line) => line.includes("upsert")) ?? "");
    assert.deepEqual([aliases, ttl], [["other"], "3600s"]);
    const shown = await inProcessEnds("get", "secret", "own", "--server", server.grpc, "--show-secrets");
    assert.match(shown.out, /UzNDUjNU/);
  });

  test("has different errors for an unknown layer, a folder's layer, no server and a missing file", async () => {
    const file = await server.file("w.yaml", clusterYaml("web"));
    const unknown = await server.run("apply", "-f", file, "--layer", "nope");
    assert.deepEqual([unknown.status, unknown.out], [1, ""]);
    assert.match(
      unknown.err,
      /^xdskit apply: there is no layer "nope", only "folder", "api" \[XDSKIT_LAYER_UNKNOWN\]\n$/,
    );
    const folder = await server.run("apply", "-f", file, "--layer", "folder");
    assert.equal(folder.status, 1);
    assert.match(folder.err, /\[XDSKIT_LAYER_READ_ONLY\]\n$/);
    const away = await inProcessEnds("apply", "-f", file, "--server", "http://127.0.0.1:1");
    assert.equal(away.status, 1);
    assert.match(
      away.err,
      /^xdskit apply: no server runs at http:\/\/127\.0\.0\.1:1: start one with "xdskit serve DIR".*\n$/,
    );
    const missing = await server.run("apply", "-f", `${file}.no`);
    assert.deepEqual([missing.status, missing.out], [2, ""]);
    for (const args of [[], ["-f", file, "--wait=0%"], ["-f", file, "--wait=some"], ["-f", file, "more"]])
      assert.equal((await server.run("apply", ...args)).status, 2, args.join(" "));
  });
});

describe("xdskit delete", () => {
  test("deletes nothing if a name goes while it looks", async () => {
    await begin(clusterYaml("a"), clusterYaml("b"), clusterYaml("c"));
    let looks = 0;
    await using proxy = await passing(server.admin, async ({ dryRun }) => {
      if (dryRun !== true || looks++ > 0) return;
      // Another one is faster.
      assert.equal((await server.run("delete", "cluster", "b")).status, 0);
    });
    const { status, err } = await inProcessEnds("delete", "cluster", "a", "b", "--server", proxy.url);
    assert.deepEqual([status, looks], [1, 2]);
    assert.equal(err, 'xdskit delete: cluster "b" is not in layer "api": nothing was deleted\n');
    assert.equal(await clusters(), "a=1s c=1s folder=1s");
  });

  test("deletes the remaining names if something else changes while it looks", async () => {
    await begin(clusterYaml("a"), clusterYaml("b"));
    const more = await server.file("more.yaml", clusterYaml("more"));
    let looks = 0;
    await using proxy = await passing(server.admin, async ({ dryRun }) => {
      if (dryRun === true && looks++ === 0) assert.equal((await server.run("apply", "-f", more)).status, 0);
    });
    const { status } = await inProcessEnds("delete", "cluster", "a", "--server", proxy.url);
    assert.deepEqual([status, looks], [0, 2]);
    assert.equal(await clusters(), "b=1s folder=1s more=1s");
  });

  test("removes all named resources as one change, or nothing", async () => {
    await begin(clusterYaml("a"), clusterYaml("b"), clusterYaml("c"));
    const missing = await server.run("delete", "cluster", "a", "nope");
    assert.deepEqual([missing.status, missing.out], [1, ""]);
    assert.equal(missing.err, 'xdskit delete: cluster "nope" is not in layer "api": nothing was deleted\n');
    const dry = await server.run("delete", "cds", "a", "--dry-run");
    assert.deepEqual([dry.status, await clusters()], [3, "a=1s b=1s c=1s folder=1s"]);
    const { status, out } = await server.run("delete", "cluster", "a", "b");
    assert.equal(status, 0);
    assert.match(out, /^- cluster "a"\n- cluster "b"\nrevision \S{10} of layer api: 2 removed\n$/);
    assert.equal(await clusters(), "c=1s folder=1s");
    const type = await server.run("delete", "klusta", "a");
    assert.equal(type.status, 2);
  });
});
