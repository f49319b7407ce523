import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, writeResources, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { FilesSettings } from "../../options/client-options.js";
import { recordUpstream, typeNamed } from "../../testing/scripted/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import { cds, clusters, clusterUrl, eds, oneFile, withFiles } from "../../testing/watched-files.js";
import type { UpstreamContext } from "../contract/upstream.js";
import { createFilesUpstream } from "./files-upstream.js";

suite("a file of resources", () => {
  test("a file is loaded at start, and read again when another is moved over it (rules 152, 153)", () =>
    withFiles(oneFile(), async ({ upstream, move, told, updates }) => {
      await move("cds.json", clusters("1", "a=1", "b"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1 +b@1");
      assert.equal(updates[0]?.upserted[0]?.message.$typeName, "envoy.config.cluster.v3.Cluster");
      await move("cds.json", clusters("2", "a=2", "b", "c"));
      await told("+a@2 +c@2");
      await move("cds.json", clusters("3", "c", "a=2"));
      await told("-b");
      const [status] = upstream.status();
      assert.equal(status?.version, "3");
      assert.deepEqual([...(status?.resources.keys() ?? [])].sort(), ["a", "c"]);
    }));

  test("a file causes no report if none of its resources differ", () =>
    withFiles(oneFile(), async ({ upstream, move, told }) => {
      await move("cds.json", clusters("1", "a"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await move("cds.json", clusters("2", "a"));
      await waitFor("the version to be read", () => upstream.status()[0]?.version === "2");
      await move("cds.json", clusters("3", "a", "b"));
      await told("+b@3");
    }));

  test("a file is read as JSON, YAML, binary and text, by its extension (rule 151)", async () => {
    const forms = {
      json: "json",
      yaml: "yaml",
      yml: "yaml",
      pb: "binary",
      pb_text: "text",
      textproto: "text",
    } as const;
    const a = createResource(create(ClusterSchema, { name: "a" }), { ttl: 60_000, aliases: ["also"] });
    for (const [extension, form] of Object.entries(forms)) {
      await withFiles(oneFile(`cds.${extension}`), async ({ upstream, move, told }) => {
        await move(`cds.${extension}`, writeResources([a], form, { version: "v" }));
        upstream.subscribe(cds, ["also"]);
        await told("connected cluster", "+a@v");
      });
    }
  });

  test("a file is complete: a resource that it lacks does not exist, and that is known at once, for every type", () =>
    withFiles(
      (folder) => [{ type: "endpoint", path: join(folder, "eds.yaml") }],
      async ({ upstream, move, told }) => {
        const assignment = (name: string) =>
          `- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n  cluster_name: ${name}\n`;
        await move("eds.yaml", `version_info: "1"\nresources:\n${assignment("a")}${assignment("b")}`);
        upstream.subscribe(eds, ["a", "c"]);
        await told("connected endpoint", "+a@1 !c(told)");
        upstream.subscribe(eds, ["b"]);
        await told("+b@1");
        await move("eds.yaml", `version_info: "2"\nresources:\n${assignment("c")}`);
        await told("+c@2 -a -b");
        const states = upstream.status()[0]?.states;
        assert.deepEqual(
          ["a", "b", "c"].map((name) => states?.(name)),
          ["absent", "absent", "current"],
        );
        upstream.unsubscribe(eds, ["a", "b"]);
        upstream.subscribe(eds, ["a"]);
        await told("!a(told)");
      },
    ));

  test("a file is reported if it is missing, and applied when it comes", () =>
    withFiles(oneFile("later/cds.json"), async ({ upstream, path, move, told }) => {
      upstream.subscribe(cds, ["*"]);
      await told(
        "failed cluster: DIR/later/cds.json: cluster: cannot be read: it does not exist [XDSKIT_FILE_UNREADABLE]",
      );
      await mkdir(path("later"));
      await move("later/cds.json", clusters("1", "a"));
      await told("connected cluster", "+a@1");
    }));

  test("a file may also be written slowly in place if it was missing", () =>
    withFiles(oneFile(), async ({ upstream, path, told, lines }) => {
      upstream.subscribe(cds, ["*"]);
      await told(/cannot be read/);
      const text = clusters("1", "a", "b");
      await writeFile(path("cds.json"), text.slice(0, 30));
      await writeFile(path("cds.json"), text);
      await waitFor("what was written", () => lines.includes("+a@1 +b@1"));
    }));

  test("a file leaves its resources when it is deleted, and may come again", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told }) => {
      await move("cds.json", clusters("1", "a"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await rm(path("cds.json"));
      await told(/cannot be read: it does not exist; what it had before stays in use \[XDSKIT_FILE_UNREADABLE\]/);
      assert.equal(upstream.status()[0]?.states("a"), "current");
      await move("cds.json", clusters("2", "b"));
      await told("+b@2 -a");
    }));
});

suite("a bad file (rules 154-156)", () => {
  const bad: readonly (readonly [what: string, text: string, error: RegExp])[] = [
    [
      "that is cut off",
      clusters("2", "b").slice(0, 40),
      /^failed cluster nack: DIR\/cds\.json:1:\d+: .*\[XDSKIT_SYNTAX\]$/,
    ],
    [
      "with an unknown field",
      `{"resources": [\n{"@type": "${clusterUrl}", "name": "b", "nme": 1}]}`,
      /^failed cluster nack: DIR\/cds\.json:2:\d+: .*resources\[0\]\.nme|^failed cluster nack: DIR\/cds\.json:2.*nme.*XDSKIT_FIELD_UNKNOWN/,
    ],
    [
      "that breaks a rule of the protos",
      `{"resources": [\n{"@type": "${clusterUrl}", "name": "b", "connectTimeout": "-1s"}]}`,
      /^failed cluster nack: DIR\/cds\.json:2:\d+: cluster "b", connect_timeout: must be more than 0s .*\[XDSKIT_RULE_BROKEN\]$/,
    ],
    [
      "with a name twice",
      clusters("2", "b", "b"),
      /^failed cluster nack: DIR\/cds\.json:1:\d+: cluster "b": there is another of this name in line 1 \[XDSKIT_DUPLICATE_RESOURCE\]$/,
    ],
    [
      "of another type",
      `{"resources": [{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "b"}]}`,
      /nack: DIR\/cds\.json:1:\d+: listener "b": the file holds cluster resources, and this one is of type listener \[XDSKIT_TYPE_MISMATCH\]$/,
    ],
    [
      "that has no bytes any more",
      "",
      /nack: DIR\/cds\.json: cluster: it is empty now; write `resources: \[\]` .*\[XDSKIT_FILE_EMPTIED\]$/,
    ],
    [
      "with more than the limit",
      clusters("2", "b", "c", "d", "e"),
      /nack: DIR\/cds\.json: cluster: it holds 4 resources, and at most 3 are taken/,
    ],
    [
      "that the program refuses",
      clusters("2", "a", "forbidden"),
      /nack: DIR\/cds\.json:1:\d+: cluster "forbidden": it is forbidden \[XDSKIT_RULE_BROKEN\]$/,
    ],
  ];
  const limits = {
    responseBytes: 5_000,
    resourcesPerResponse: 3,
    resourcesPerType: 10,
    retainedBytes: 10_000_000,
    watcherMs: 1_000,
  };
  const check: UpstreamContext["check"] = (_, name) =>
    name === "forbidden" ? [{ code: "XDSKIT_RULE_BROKEN", severity: "error", message: "it is forbidden" }] : [];
  for (const [what, text, error] of bad) {
    test(`${what} changes nothing, and a good one after it is applied`, () =>
      withFiles(
        oneFile(),
        async ({ upstream, move, told }) => {
          await move("cds.json", clusters("1", "a"));
          upstream.subscribe(cds, ["*"]);
          await told("connected cluster", "+a@1");
          await move("cds.json", text);
          await told(error);
          const [status] = upstream.status();
          assert.equal(status?.states("a"), "current");
          assert.equal(status?.version, "1");
          assert.notEqual(status?.rejection(undefined), undefined);
          await move("cds.json", clusters("3", "a", "c"));
          await told("+c@3");
          assert.equal(upstream.status()[0]?.rejection(undefined), undefined);
        },
        { context: { limits, check } },
      ));
  }

  test("a bad file is reported at start, and a good one after it is applied, even if it is written in place", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told, lines }) => {
      await move("cds.json", "{");
      upstream.subscribe(cds, ["*"]);
      await told(/nack: .*XDSKIT_SYNTAX/);
      assert.equal(upstream.status()[0]?.states("a"), "rejected");
      await writeFile(path("cds.json"), clusters("1", "a"));
      await waitFor("the good one", () => lines.includes("+a@1"));
    }));

  test("a bad file is not read if it is larger than the limit", () =>
    withFiles(
      oneFile(),
      async ({ upstream, move, told }) => {
        await move("cds.json", " ".repeat(6_000));
        upstream.subscribe(cds, ["*"]);
        await told(/cannot be read: it is larger than the limit: 6000 bytes of at most 5000 bytes/);
      },
      { context: { limits } },
    ));

  test("a bad file shows no secret", () =>
    withFiles(
      (folder) => [{ type: "secret", path: join(folder, "sds.json") }],
      async ({ upstream, move, told, lines }) => {
        const secret = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
        await move(
          "sds.json",
          `{"resources": [{"@type": "${secret}", "name": "s", "genericSecret": {"secret": {"inlineString": 4711.5}}}]}`,
        );
        upstream.subscribe(typeNamed("sds"), ["*"]);
        await told(/nack: .*inline_string/);
        assert.doesNotMatch(lines.join("\n"), /4711/);
      },
    ));
});

suite("a watcher of a file", () => {
  test("a watcher of a file holds up the next change until it is done", async () => {
    let release = () => {};
    const slow = () => new Promise<void>((resolve) => (release = resolve));
    await withFiles(
      oneFile(),
      async ({ upstream, move, told, lines }) => {
        await move("cds.json", clusters("1", "a"));
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a@1");
        await move("cds.json", clusters("2", "b"));
        await move("cds.json", clusters("3", "c"));
        assert.deepEqual(lines.slice(2), []);
        release();
        await told("+c@3 -a");
        release();
      },
      { sink: { update: slow } },
    );
  });

  test("a watcher of a file costs no watch once it wants nothing, and a later watcher gets the file as it is then", () =>
    withFiles(oneFile(), async ({ upstream, move, told }) => {
      await move("cds.json", clusters("1", "a"));
      upstream.subscribe(cds, ["a"]);
      await told("connected cluster", "+a@1");
      upstream.unsubscribe(cds, ["a"]);
      await told("disconnected cluster");
      assert.deepEqual(upstream.status(), []);
      await move("cds.json", clusters("2", "a=2"));
      upstream.subscribe(cds, ["a"]);
      await told("connected cluster", "+a@2");
    }));

  test("a watcher of a file is told the differences if it has the resources from elsewhere", () =>
    withFiles(oneFile(), async ({ upstream, move, told, updates }) => {
      await move("cds.json", clusters("1", "a", "b"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1 +b@1");
      const had = updates[0]?.upserted ?? [];
      upstream.unsubscribe(cds, ["*"]);
      await told("disconnected cluster");
      await move("cds.json", clusters("2", "b", "c"));
      upstream.hold(cds, had, "1");
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+c@2 -a");
    }));

  test("a watcher of a file is told when a TTL is over, and when the resource comes again (rule 134)", () =>
    withFiles(oneFile("cds.pb"), async ({ upstream, move, told }) => {
      const resources = (ttl: number) => [
        createResource(create(ClusterSchema, { name: "short" }), { ttl }),
        createResource(create(ClusterSchema, { name: "long" })),
      ];
      await move("cds.pb", writeResources(resources(300), "binary", { version: "1" }));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+long@1 +short@1".split(" ").reverse().join(" "));
      await told("-short(ttl)");
      assert.equal(upstream.status()[0]?.states("long"), "current");
      await move("cds.pb", writeResources(resources(300_000), "binary", { version: "2" }));
      await told("+short@2");
    }));

  test("a watcher of a file gets an error for a type that has no file", () =>
    withFiles(oneFile(), async ({ upstream, told }) => {
      upstream.subscribe(eds, ["a"]);
      await told("failed endpoint: endpoint: there is no file for endpoint resources [XDSKIT_CLIENT_OPTION]");
    }));
});

test("files of an unknown type, or twice of one type, are refused", () => {
  const make = (...files: FilesSettings["files"]) =>
    recordUpstream((context, sink) => createFilesUpstream({ kind: "files", files }, context, sink));
  const code = (expected: string) => (error: unknown) => error instanceof XdskitError && error.code === expected;
  assert.throws(() => make({ type: "teapot", path: "a" }), code("XDSKIT_TYPE_NAME_UNKNOWN"));
  assert.throws(() => make({ type: "cds", path: "a" }, { type: "cluster", path: "b" }), code("XDSKIT_CLIENT_OPTION"));
});
