import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { chmod, lstat, readdir, readFile, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { start } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";

const secret = `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: own
generic_secret: { secret: { inline_string: S3CR3T } }
`;
const wrapped = `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource
name: web
aliases: [other]
ttl: 3600s
resource: { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: web }
`;
const variant = (value: string, timeout: string) => `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource
resource_name:
  name: shop
  dynamic_parameter_constraints: { constraint: { key: env, value: ${value} } }
resource: { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: shop, connect_timeout: ${timeout} }
`;

let server: Served;
before(async () => {
  server = await served({ "c.yaml": clusterYaml("folder") });
});
after(() => server[Symbol.asyncDispose]());

async function begin(...texts: readonly string[]): Promise<void> {
  const file = await server.file("begin.yaml", texts.join("---\n"));
  assert.equal((await server.run("apply", "-f", file, "--prune")).status, 0);
}

describe("xdskit export and import", () => {
  test("restore a layer as one change, with later additions and removals undone, and with names, aliases, TTLs and variants", async () => {
    await begin(clusterYaml("a"), wrapped, variant("prod", "1s"), variant("test", "2s"));
    const { status, out, err } = await server.run("export");
    assert.deepEqual([status, err], [0, ""]);
    const [layer] = JSON.parse(out).layers;
    assert.deepEqual([layer.name, layer.resources.length], ["api", 4]);
    const versions = async () => {
      const page = (await server.ask("/api/v1/layers/api/resources")) as {
        readonly resources: readonly { readonly name: string; readonly version: string }[];
      };
      return page.resources.map(({ name, version }) => `${name} ${version}`);
    };
    const held = await versions();
    await begin(clusterYaml("a", "2s"), clusterYaml("new"));
    const file = await server.file("backup.json", out);
    const dry = await server.run("import", file, "--dry-run");
    assert.deepEqual(
      [dry.status, /3 added, 1 changed, 1 removed; nothing was done\n$/.test(dry.out)],
      [3, true],
      dry.out,
    );
    const done = await server.run("import", file);
    assert.equal(done.status, 0);
    assert.match(done.out, /^- cluster "new"$/m);
    assert.match(done.out, /of layer api: 3 added, 1 changed, 1 removed\n$/);
    assert.deepEqual(await versions(), held);
    assert.match(
      (await server.run("history", "--layer", "api", "--limit", "1")).out,
      /import of \S*backup\.json \(api\)/,
    );
    const again = await server.run("import", file);
    assert.deepEqual([again.status, again.out], [0, "layer api: nothing changes\n"]);
  });

  test("print one JSON document for several layers on import", async () => {
    const settings = "layers:\n- { name: low, place: under }\n- { name: high, place: over }\n";
    await using two = await served({ "c.yaml": clusterYaml("folder"), "xdskit.yaml": settings });
    for (const name of ["low", "high"])
      await two.run("apply", "-f", await two.file("r.yaml", clusterYaml(name)), "--layer", name);
    const file = await two.file("backup.json", (await two.run("export")).out);
    for (const [dryRun, expected] of [
      [["--dry-run"], 3],
      [[], 0],
    ] as const) {
      for (const name of ["low", "high"]) await two.run("delete", "cluster", name, "--layer", name);
      const { status, out } = await two.run("import", file, "--output", "json", ...dryRun);
      assert.equal(status, expected);
      const { layers } = JSON.parse(out);
      assert.deepEqual(
        layers.map(({ layer, changed }: { layer: string; changed: readonly unknown[] }) => [layer, changed.length]),
        [
          ["low", 1],
          ["high", 1],
        ],
      );
    }
  });

  test("export writes the file that a link leads to, and leaves the link", async () => {
    await begin(clusterYaml("linked"));
    const real = await server.file("real.json", "old");
    const link = join(dirname(real), "link.json");
    await symlink("real.json", link);
    assert.equal((await server.run("export", link)).status, 0);
    assert.ok((await lstat(link)).isSymbolicLink());
    assert.match(await readFile(real, "utf8"), /"linked"/);
    assert.equal((await stat(real)).mode & 0o777, 0o600);
  });

  test("export writes the file that links lead to as a whole, even if it is not there yet", async () => {
    await begin(clusterYaml("linked"));
    const link = join(dirname(await server.file("behind/any", "")), "..", "first.json");
    const folder = join(dirname(link), "behind");
    await symlink("behind/second.json", link);
    await symlink("late.json", join(folder, "second.json"));
    const names: string[] = [];
    const watcher = watch(folder);
    const isThere = new Promise<void>((resolve) => {
      watcher.on("change", (_, name) => {
        names.push(String(name));
        if (name === "late.json") resolve();
      });
    });
    try {
      assert.equal((await server.run("export", link)).status, 0);
      await isThere;
    } finally {
      watcher.close();
    }
    assert.match(names[0] ?? "", /^\.late\.json\..*\.tmp$/);
    assert.deepEqual((await readdir(folder)).sort(), ["any", "late.json", "second.json"]);
    assert.ok((await lstat(link)).isSymbolicLink());
    assert.match(await readFile(join(folder, "late.json"), "utf8"), /"linked"/);
  });

  test("export refuses a file in a folder that is not there, also behind a link, and makes nothing", async () => {
    await begin(clusterYaml("a"));
    const beside = dirname(await server.file("any", ""));
    const link = join(beside, "nowhere.json");
    await symlink("none/late.json", link);
    for (const file of [join(beside, "none/new/f.json"), join(beside, "none/f.json"), link]) {
      const { status, out, err } = await server.run("export", file);
      assert.deepEqual([status, out], [2, ""], file);
      assert.match(err, /^(xdskit export: )?\S+\/none(\/new)?: there is no such folder \[XDSKIT_FOLDER_MISSING\]\n/);
    }
    assert.ok(!(await readdir(beside)).includes("none"));
  });

  test("export prints to standard output by the name of its device", async () => {
    await begin(clusterYaml("printed"));
    assert.match((await server.run("export", "/dev/stdout")).out, /"printed"/);
  });

  test("export writes into a FIFO, and leaves it", async () => {
    await begin(clusterYaml("piped"));
    const fifo = join(dirname(await server.file("any", "")), "fifo");
    assert.equal(spawnSync("mkfifo", [fifo]).status, 0);
    await using reader = start("cat", [fifo]);
    assert.equal((await server.run("export", fifo)).status, 0);
    assert.ok((await lstat(fifo)).isFIFO());
    assert.match((await reader.ended()).out, /"piped"/);
  });

  test("leave secrets out: export names the resources, and import refuses the file and says what to do", async () => {
    await begin(clusterYaml("a"), secret);
    const { status, out, err } = await server.run("export");
    assert.equal(status, 0);
    assert.doesNotMatch(out + err, /S3CR3T/);
    assert.match(
      err,
      /^xdskit export: the secrets of 1 resource are left out \(\[redacted\]\): secret "own"\. import refuses/,
    );
    const refused = await server.run("import", await server.file("backup.json", out));
    assert.deepEqual([refused.status, refused.out], [1, ""]);
    assert.match(
      refused.err,
      /^\S*backup\.json: secret "own".*\[XDSKIT_SECRET_LEFT_OUT\]\nxdskit import: .*nothing was sent.*write them into the file/,
    );
    const whole = out.replace("[redacted]", "S3CR3T-2");
    const done = await server.run("import", await server.file("whole.json", whole));
    assert.deepEqual([done.status, done.out.split("\n")[0]], [0, '~ secret "own"']);
  });

  test("leave secrets inside longer texts out, and say so, too", async () => {
    const cluster = (name: string, value: string) =>
      `${clusterYaml(name)}metadata: { filter_metadata: { own: { value: '${value}' } } }\n`;
    const certificate = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n";
    const key = "-----BEGIN PRIVATE KEY-----\nUzNDUjNU\n-----END PRIVATE KEY-----\n";
    const body = `{ inline_bytes: ${Buffer.from(certificate + key).toString("base64")} }`;
    const route = `{ match: { prefix: / }, direct_response: { status: 200, body: ${body} } }`;
    const bundle = `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: bundle
virtual_hosts: [{ name: all, domains: ["*"], routes: [${route}] }]
`;
    const texts = [cluster("url", "http://me:UzNDUjNU@host/"), cluster("json", '{"token":"UzNDUjNU"}'), bundle];
    await begin(clusterYaml("a"), cluster("word", "[redacted] is only a word here"), ...texts);
    const { status, out, err } = await server.run("export");
    assert.equal(status, 0);
    assert.doesNotMatch(out, /UzNDUjNU/);
    assert.match(err, /^xdskit export: the secrets of 3 resources are left out/);
    for (const name of ["url", "json", "bundle"]) assert.match(err, new RegExp(`"${name}"`));
    const refused = await server.run("import", await server.file("backup.json", out));
    assert.equal(refused.status, 1);
    assert.equal(refused.err.match(/XDSKIT_SECRET_LEFT_OUT/g)?.length, 3, refused.err);
  });

  test("keep secrets with --show-secrets, in a file that only its owner can read", async () => {
    await begin(clusterYaml("a"), secret, wrapped, variant("prod", "1s"));
    const file = await server.file("old.json", "old");
    await chmod(file, 0o644);
    const state = join(dirname(file), "state");
    const { status, out, err } = await server.run("export", file, "--show-secrets", "--state", state);
    assert.deepEqual([status, out, err], [0, "", ""]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const text = await readFile(file, "utf8");
    assert.match(text, /S3CR3T/);
    await begin(clusterYaml("b"));
    const done = await server.run("import", file);
    assert.deepEqual([done.status, done.err], [0, ""]);
    assert.equal((await server.run("export", file, "--show-secrets", "--state", state)).status, 0);
    const resources = (of: string) => JSON.parse(of).layers[0].resources;
    assert.deepEqual(resources(await readFile(file, "utf8")), resources(text));
    const shown = await inProcessEnds("get", "secret", "own", "--server", server.grpc, "--show-secrets");
    assert.match(shown.out, /S3CR3T/);
  });

  test("write no secrets where the state is not the server's, or no file is named", async () => {
    await begin(secret);
    const file = await server.file("other.json", "other");
    const wrong = await server.run("export", file, "--show-secrets", "--state", server.folder.path);
    assert.deepEqual([wrong.status, await readFile(file, "utf8")], [1, "other"]);
    assert.match(wrong.err, /no state in this folder has what the server serves/);
    for (const args of [["--show-secrets"], [file, "--state", "."]])
      assert.equal((await server.run("export", ...args)).status, 2, args.join(" "));
  });

  test("import says where a file is no JSON, in the words of apply, and shows none of its text", async () => {
    const text = `{\n  "format": "xdskit-export/1",\n  "inlineString": S3CR3T\n}\n`;
    const file = await server.file("broken.json", text);
    for (const [command, ...how] of [["import"], ["apply", "-f"]] as const) {
      const { status, out, err } = await server.run(command, ...how, file);
      assert.deepEqual([status, out], [1, ""], command);
      assert.match(err, /broken\.json:3:19: expected a value, found a word without quotes \[XDSKIT_SYNTAX\]\n/);
      assert.doesNotMatch(err, /S3CR3T/);
    }
  });

  test("refuse a file of another kind, or one that would only remove", async () => {
    await begin(clusterYaml("a"));
    for (const [text, expected] of [
      [clusterYaml("a"), /\[XDSKIT_SYNTAX\]/],
      ["{}", /it is no file of "xdskit export".*apply -f.*\[XDSKIT_FILE_FORM\]/],
      ['{"format":"xdskit-export/2","layers":[]}', /of the format xdskit-export\/2, and this xdskit reads/],
      ['{"format":"xdskit-export/1","layers":[{}]}', /has no name/],
      ['{"format":"xdskit-export/1","layers":[{"name":"api","resources":[]}]}', /holds no resource/],
      [
        `{"format":"xdskit-export/1","layers":[{"name":"mine","resources":[{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}]}]}`,
        /the server has no writable layer "mine", only api\n$/,
      ],
    ] as const) {
      const { status, out, err } = await server.run("import", await server.file("b.json", text));
      assert.deepEqual([status, out], [1, ""], text);
      assert.match(err, expected);
    }
    assert.equal((await server.run("import", "nowhere.json")).status, 2);
    const file = await server.file("good.json", (await server.run("export")).out);
    for (const args of [
      ["import", file],
      ["export", file, "--show-secrets"],
    ]) {
      const missing = await inProcessEnds(...args, "--server", server.admin, "--descriptors", "nowhere.pb");
      assert.deepEqual([missing.status, missing.out], [2, ""], args.join(" "));
      assert.match(missing.err, /nowhere\.pb: the descriptor set cannot be read: there is no such file/);
    }
    assert.equal((await server.run("export", "--layer", "folder")).status, 1);
  });
});
