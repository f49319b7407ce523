import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, writeResources, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { FilesSettings } from "../../client-options.js";
import { type RecordedUpstream, recordUpstream, typeNamed } from "../../testing/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import type { UpstreamContext, UpstreamSink } from "../upstream.js";
import { createFilesUpstream } from "./files-upstream.js";

const cds = typeNamed("cds");
const eds = typeNamed("eds");
const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A file of clusters; `name=text` has a content. */
function clusters(version: string, ...items: readonly string[]): string {
  const resources = items.map((item) => {
    const [name, altStatName] = item.split("=");
    return { "@type": clusterUrl, name, altStatName };
  });
  return JSON.stringify({ versionInfo: version, resources });
}

interface Running extends RecordedUpstream {
  readonly folder: string;
  path(name: string): string;
  /** Writes a file beside and moves it over this one. */
  move(name: string, text: string | Uint8Array): Promise<void>;
  /** Waits until these lines were told since those waited for before, and no others. */
  told(...lines: readonly (string | RegExp)[]): Promise<void>;
}

async function withFiles(
  files: (folder: string) => FilesSettings["files"],
  run: (running: Running) => Promise<void>,
  options: { context?: Partial<UpstreamContext>; sink?: Partial<Pick<UpstreamSink, "update">> } = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-files-"));
  const settings: FilesSettings = { kind: "files", files: files(folder) };
  const recorded = recordUpstream(
    (context, sink) => createFilesUpstream(settings, context, sink),
    options.context,
    options.sink,
  );
  let moves = 0;
  let at = 0;
  try {
    await run({
      ...recorded,
      folder,
      path: (name) => join(folder, name),
      async move(name, text) {
        const beside = join(folder, `.new-${++moves}`);
        await writeFile(beside, text);
        await rename(beside, join(folder, name));
      },
      async told(...expected) {
        const { lines } = recorded;
        await waitFor(
          () => `${expected.join("\n")}\nbut there is\n${lines.slice(at).join("\n")}`,
          () => lines.length >= at + expected.length,
        );
        const since = lines.slice(at);
        at = lines.length;
        assert.equal(since.length, expected.length, since.join("\n"));
        for (const [index, line] of expected.entries()) {
          if (typeof line === "string") assert.equal(since[index]?.replaceAll(folder, "DIR"), line);
          else assert.match(since[index]?.replaceAll(folder, "DIR") ?? "", line);
        }
      },
    });
  } finally {
    await recorded.upstream.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const oneFile =
  (name = "cds.json") =>
  (folder: string) => [{ type: "cds", path: join(folder, name) }];

suite("a file of resources", () => {
  test("is loaded at start, and read again when another is moved over it (rules 152, 153)", () =>
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

  test("tells nothing where nothing of it differs", () =>
    withFiles(oneFile(), async ({ upstream, move, told }) => {
      await move("cds.json", clusters("1", "a"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await move("cds.json", clusters("2", "a"));
      await waitFor("the version to be read", () => upstream.status()[0]?.version === "2");
      await move("cds.json", clusters("3", "a", "b"));
      await told("+b@3");
    }));

  test("is read as JSON, YAML, binary and text, by its extension (rule 151)", async () => {
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

  test("is whole: what it lacks does not exist, and that is known at once, for every type", () =>
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
          ["absent", "absent", "held"],
        );
        upstream.unsubscribe(eds, ["a", "b"]);
        upstream.subscribe(eds, ["a"]);
        await told("!a(told)");
      },
    ));

  test("is reported where it is not there, and applied when it comes", () =>
    withFiles(oneFile("later/cds.json"), async ({ upstream, path, move, told }) => {
      upstream.subscribe(cds, ["*"]);
      await told(
        "failed cluster: DIR/later/cds.json: cluster: cannot be read: it does not exist [XDSKIT_FILE_UNREADABLE]",
      );
      await mkdir(path("later"));
      await move("later/cds.json", clusters("1", "a"));
      await told("connected cluster", "+a@1");
    }));

  test("that is not there may also be written where it is to be, slowly", () =>
    withFiles(oneFile(), async ({ upstream, path, told, lines }) => {
      upstream.subscribe(cds, ["*"]);
      await told(/cannot be read/);
      const text = clusters("1", "a", "b");
      await writeFile(path("cds.json"), text.slice(0, 30));
      await writeFile(path("cds.json"), text);
      await waitFor("what was written", () => lines.includes("+a@1 +b@1"));
    }));

  test("that is deleted leaves what it held, and may come again", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told }) => {
      await move("cds.json", clusters("1", "a"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await rm(path("cds.json"));
      await told(/cannot be read: it does not exist; what it held before stays in use \[XDSKIT_FILE_UNREADABLE\]/);
      assert.equal(upstream.status()[0]?.states("a"), "held");
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
      /nack: DIR\/cds\.json:1:\d+: listener "b": the file is one of cluster resources.*\[XDSKIT_TYPE_MISMATCH\]$/,
    ],
    [
      "that has no bytes any more",
      "",
      /nack: DIR\/cds\.json: cluster: it has no bytes any more.*\[XDSKIT_FILE_EMPTIED\]$/,
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
  const limits = { responseBytes: 5_000, resourcesPerResponse: 3, resourcesPerType: 10, watcherMs: 1_000 };
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
          assert.equal(status?.states("a"), "held");
          assert.equal(status?.version, "1");
          assert.notEqual(status?.rejection(undefined), undefined);
          await move("cds.json", clusters("3", "a", "c"));
          await told("+c@3");
          assert.equal(upstream.status()[0]?.rejection(undefined), undefined);
        },
        { context: { limits, check } },
      ));
  }

  test("at start is reported, and one after it applied; also if it is written where it lies", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told, lines }) => {
      await move("cds.json", "{");
      upstream.subscribe(cds, ["*"]);
      await told(/nack: .*XDSKIT_SYNTAX/);
      assert.equal(upstream.status()[0]?.states("a"), "rejected");
      await writeFile(path("cds.json"), clusters("1", "a"));
      await waitFor("the good one", () => lines.includes("+a@1"));
    }));

  test("that is larger than the limit is not read", () =>
    withFiles(
      oneFile(),
      async ({ upstream, move, told }) => {
        await move("cds.json", " ".repeat(6_000));
        upstream.subscribe(cds, ["*"]);
        await told(/cannot be read: it is larger than the limit: 6000 bytes of at most 5000 bytes/);
      },
      { context: { limits } },
    ));

  test("says nothing of a secret", () =>
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

suite("where a file lies", () => {
  test("writing to it where it lies is not taken for a new one", () =>
    withFiles(
      (folder) => [
        { type: "cds", path: join(folder, "cds.json") },
        { type: "eds", path: join(folder, "eds.json") },
      ],
      async ({ upstream, path, move, told }) => {
        await move("cds.json", clusters("1", "a"));
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a@1");
        await writeFile(path("cds.json"), clusters("2", "b"));
        // What happened later was seen, so that was seen too.
        upstream.subscribe(eds, ["none"]);
        await told(/^failed endpoint/);
        await move("eds.json", "[]");
        await told("connected endpoint", "!none(told)");
        await move("cds.json", clusters("3", "c"));
        await told("+c@3 -a");
      },
    ));

  test("a link to it that is swapped leads to another one", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told }) => {
      await move("one.json", clusters("1", "a"));
      await move("two.json", clusters("2", "b"));
      await symlink("one.json", path("cds.json"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await symlink("two.json", path("next"));
      await rename(path("next"), path("cds.json"));
      await told("+b@2 -a");
      await move("two.json", clusters("3", "b", "c"));
      await told("+c@3");
    }));

  for (const watched of [true, false]) {
    test(`a volume of Kubernetes, whose ..data is swapped, ${watched ? "with" : "without"} watched_directory (rule 153)`, () =>
      withFiles(
        (folder) => [{ type: "cds", path: join(folder, "cds.json"), watchedDirectory: watched ? folder : undefined }],
        async ({ upstream, path, told }) => {
          const publish = async (time: string, text: string) => {
            await mkdir(path(`..${time}`));
            await writeFile(path(`..${time}/cds.json`), text);
            await symlink(`..${time}`, path("..data_tmp"));
            await rename(path("..data_tmp"), path("..data"));
          };
          await publish("1", clusters("1", "a"));
          await symlink("..data/cds.json", path("cds.json"));
          upstream.subscribe(cds, ["*"]);
          await told("connected cluster", "+a@1");
          await publish("2", clusters("2", "b"));
          await rm(path("..1"), { recursive: true });
          await told("+b@2 -a");
          await publish("3", "{");
          await told(/nack/);
          await publish("4", clusters("4", "b", "c"));
          await told("+c@4");
        },
      ));
  }

  test("with watched_directory only what is moved into that folder counts", () =>
    withFiles(
      (folder) => [{ type: "cds", path: join(folder, "real/cds.json"), watchedDirectory: join(folder, "watched") }],
      async ({ upstream, path, move, told }) => {
        await mkdir(path("real"));
        await mkdir(path("watched"));
        await move("real/cds.json", clusters("1", "a"));
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a@1");
        const files = [{ type: "cds", path: path("real/cds.json") }];
        const other = recordUpstream((...of) => createFilesUpstream({ kind: "files", files }, ...of));
        try {
          other.upstream.subscribe(cds, ["*"]);
          await waitFor("the other one to read it", () => other.lines.includes("+a@1"));
          await move("real/cds.json", clusters("2", "b"));
          await waitFor("the other one to read it again", () => other.lines.includes("+b@2 -a"));
        } finally {
          await other.upstream.close();
        }
        await move("real/cds.json", clusters("3", "c"));
        await move("watched/any", "");
        await told("+c@3 -a");
      },
    ));
});

suite("who watches a file", () => {
  test("holds up what comes next until it is done", async () => {
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

  test("and wants nothing any more costs no watch; who comes later gets the file as it is then", () =>
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

  test("and has it from elsewhere is told what differs", () =>
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

  test("is told when a time to live is over, and of what comes again (rule 134)", () =>
    withFiles(oneFile("cds.pb"), async ({ upstream, move, told }) => {
      const resources = (ttl: number) => [
        createResource(create(ClusterSchema, { name: "short" }), { ttl }),
        createResource(create(ClusterSchema, { name: "long" })),
      ];
      await move("cds.pb", writeResources(resources(300), "binary", { version: "1" }));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+long@1 +short@1".split(" ").reverse().join(" "));
      await told("-short(ttl)");
      assert.equal(upstream.status()[0]?.states("long"), "held");
      await move("cds.pb", writeResources(resources(300_000), "binary", { version: "2" }));
      await told("+short@2");
    }));

  test("asks for a type that has no file is told so", () =>
    withFiles(oneFile(), async ({ upstream, told }) => {
      upstream.subscribe(eds, ["a"]);
      await told("failed endpoint: endpoint: there is no file for endpoint resources [XDSKIT_CLIENT_OPTION]");
    }));
});

test("files of a type that is not known, or of one type twice, are refused", () => {
  const make = (...files: FilesSettings["files"]) =>
    recordUpstream((context, sink) => createFilesUpstream({ kind: "files", files }, context, sink));
  const code = (expected: string) => (error: unknown) => error instanceof XdskitError && error.code === expected;
  assert.throws(() => make({ type: "teapot", path: "a" }), code("XDSKIT_TYPE_NAME_UNKNOWN"));
  assert.throws(() => make({ type: "cds", path: "a" }, { type: "cluster", path: "b" }), code("XDSKIT_CLIENT_OPTION"));
});
