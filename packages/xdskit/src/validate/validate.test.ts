import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { xdskitEnds } from "../testing/command.js";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";

describe("xdskit validate", () => {
  test("ends with 0 for a good folder, with the resources of each group", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "r.yaml": routesYaml("a") });
    const { status, out, err } = await xdskitEnds("validate", folder.path);
    assert.deepEqual({ status, err }, { status: 0, err: "" });
    assert.equal(out, `${folder.path} is valid: 2 files, 0 errors, 0 warnings\n  group all: 1 cluster, 1 route\n`);
  });

  test("lists every error with its place and code, and ends with 1", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a", "-1s"),
      "b.yaml": clusterYaml("b").replace("connect_timeout", "conect_timeout"),
      "c.json": '{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",\n "name": }',
      "d.yaml": clusterYaml("d"),
      "e.yaml": clusterYaml("d"),
    });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    const at = (name: string) => join(folder.path, name).replaceAll(".", "\\.");
    for (const pattern of [
      `^${at("a.yaml")}:3:\\d+: .*connect_timeout.*\\[XDSKIT_RULE_BROKEN\\]$`,
      `^${at("b.yaml")}:3:1: .*conect_timeout.*\\[XDSKIT_FIELD_UNKNOWN\\]$`,
      `^${at("c.json")}:2:\\d+: .*\\[XDSKIT_SYNTAX\\]$`,
      `^${at("d.yaml")}:\\d+.*"d".*${at("e.yaml")}.*\\[XDSKIT_DUPLICATE_RESOURCE\\]$`,
      `^${folder.path} is not valid: 5 files, 4 errors, 0 warnings$`,
    ]) {
      assert.match(out, new RegExp(pattern, "m"));
    }
  });

  test("gives a warning for a missing reference, and an error with --strict", async () => {
    await using folder = await testFolder({ "r.yaml": routesYaml("nowhere") });
    const lenient = await inProcessEnds("validate", folder.path);
    assert.equal(lenient.status, 0);
    assert.match(
      lenient.out,
      /^warning: .*r\.yaml:8:18: route "routes", virtual_hosts\[0\]\.routes\[0\]\.route\.cluster: .*cluster "nowhere".*\[XDSKIT_DANGLING_REFERENCE\]$/m,
    );
    const strict = await inProcessEnds("validate", folder.path, "--strict");
    assert.equal(strict.status, 1);
    assert.match(strict.out, /1 error, 0 warnings/);
  });

  test("says in one line what only an Envoy can judge, also where it stands in a TypedStruct", async () => {
    const filter = (name: string, ...config: readonly string[]) =>
      [
        '"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
        `name: ${name}`,
        "typed_config:",
        ...config.map((line) => `  ${line}`),
      ].join("\n");
    await using folder = await testFolder({
      "c.yaml": clusterYaml("c"),
      "l.yaml": filter(
        "script",
        '"@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua',
        "default_source_code: { inline_string: this is not Lua }",
      ),
      "j.yaml": filter(
        "tokens",
        '"@type": type.googleapis.com/xds.type.v3.TypedStruct',
        "type_url: type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
        "value: { providers: { a: { issuer: b, local_jwks: { inline_string: no keys } } } }",
      ),
    });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 0);
    assert.match(
      out,
      /0 warnings\nonly an Envoy can judge the JWKS, Lua in 2 resources: ask one with --envoy PATH\n {2}group all: /,
    );
  });

  test("gives a warning for parts that an older Envoy ignores, and an error for parts that it rejects", async () => {
    const limit = [
      '"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
      "name: limit",
      "typed_config:",
      '  "@type": type.googleapis.com/envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit',
      "  max_request_bytes: 5",
    ];
    await using folder = await testFolder({
      "a.yaml": `${clusterYaml("a")}stats_matcher: { reject_all: true }\n`,
      "f.yaml": limit.join("\n"),
    });
    const none = await inProcessEnds("validate", folder.path, "--envoy-version", "1.40.1");
    assert.match(none.out, /2 files, 0 errors, 0 warnings/);
    const { status, out } = await inProcessEnds("validate", folder.path, "--envoy-version", "1.36");
    assert.equal(status, 1);
    const found = [
      /^warning: .*a\.yaml:\d+:\d+: cluster "a", stats_matcher: field "stats_matcher" is new in Envoy 1\.40; Envoy 1\.36 ignores it \[XDSKIT_ENVOY_TOO_OLD\]$/m,
      /^.*f\.yaml:3:\d+: extension-config "limit", typed_config: type "envoy\.extensions.*BodySizeLimit" is new in Envoy 1\.40; Envoy 1\.36 rejects it \[XDSKIT_ENVOY_TOO_OLD\]$/m,
      /2 files, 1 error, 1 warning/,
    ];
    for (const each of found) assert.match(out, each);
    const unknown = await inProcessEnds("validate", folder.path, "--envoy-version", "0.1", "--envoy-version", "1.99");
    assert.match(
      unknown.out,
      /^warning: Envoy 0\.1 is older than those that are known \(1\.32 to 1\.40\): .* \[XDSKIT_ENVOY_UNKNOWN\]$/m,
    );
    assert.match(unknown.out, /^warning: Envoy 1\.99 is newer than those that are known \(1\.32 to 1\.40\): /m);
    const wrong = await inProcessEnds("validate", folder.path, "--envoy-version", "new");
    assert.equal(wrong.status, 2);
    assert.match(wrong.err, /Expected a version of Envoy, such as 1\.36/);
  });

  test("says what it takes from an Envoy's bootstrap", async () => {
    await using folder = await testFolder({
      "envoy.yaml": `admin: {}
static_resources:
  listeners: [{ address: { socket_address: { address: 127.0.0.1, port_value: 80 } }, filter_chains: [{}] }]
  clusters: [{ name: web, connect_timeout: 1s }]
`,
    });
    const { status, out } = await inProcessEnds("validate", folder.path);
    const file = join(folder.path, "envoy.yaml");
    assert.equal(status, 0, out);
    assert.match(out, new RegExp(`^${file}: an Envoy bootstrap: 1 cluster, 1 listener; left out: admin$`, "m"));
    const json = JSON.parse((await inProcessEnds("validate", folder.path, "--json")).out);
    const taken = { cluster: 1, listener: 1 };
    assert.deepEqual(json.adopted, [
      { file, form: "an Envoy bootstrap", taken, leftOut: ["admin"], serverClusters: [] },
    ]);
  });

  test("gives an error if a bootstrap and another file have the same cluster", async () => {
    const bootstrap = "static_resources: { clusters: [{ name: a, connect_timeout: 1s }] }";
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "envoy.yaml": bootstrap });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(
      out,
      /a\.yaml:1:1: cluster "a": the same name is also in .*envoy\.yaml:1 \[XDSKIT_DUPLICATE_RESOURCE\]/,
    );
  });

  test("gives a warning for an extension that the standard Envoy lacks", async () => {
    const config = (name: string, type: string) =>
      [
        '"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
        `name: ${name}`,
        "typed_config:",
        `  "@type": type.googleapis.com/envoy.extensions.${type}`,
      ].join("\n");
    await using folder = await testFolder({
      "c.yaml": config(
        "c",
        "filters.network.client_ssl_auth.v3.ClientSSLAuth\n  auth_api_cluster: a\n  stat_prefix: b",
      ),
      "n.yaml": config("n", "filters.http.cors.v3.CorsPolicy"),
      "r.yaml": config("r", "filters.http.router.v3.Router"),
    });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 0);
    assert.match(
      out,
      /^warning: .*c\.yaml:3:\d+: extension-config "c", typed_config: "envoy\.extensions.*ClientSSLAuth" is no extension of Envoy 1\.40 as it is shipped; its contrib build has it \[XDSKIT_EXTENSION_MISSING\]$/m,
    );
    assert.doesNotMatch(out, /[nr]\.yaml/);
  });

  test("checks references in each group by itself", async () => {
    await using folder = await testFolder({
      "xdskit.yaml": `groups:
  - { name: edge, match: { id: edge }, folders: [shared, edge] }
  - { name: rest, match: {}, folders: [shared] }
`,
      "shared/r.yaml": routesYaml("only-edge"),
      "edge/c.yaml": clusterYaml("only-edge"),
    });
    const { status, out } = await inProcessEnds("validate", folder.path, "--json");
    assert.equal(status, 0);
    const { valid, files, groups, findings } = JSON.parse(out);
    assert.deepEqual(
      { valid, files, groups },
      {
        valid: true,
        files: 2,
        groups: [
          { name: "edge", resources: { route: 1, cluster: 1 } },
          { name: "rest", resources: { route: 1 } },
        ],
      },
    );
    assert.equal(findings.length, 1);
    assert.equal(findings[0].severity, "warning");
    assert.equal(findings[0].message, 'names cluster "only-edge", which group rest lacks');
  });

  test("gives a finding for a wrong settings file, and ends with 1", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "xdskit.yaml": "groups: []\n" });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(out, /xdskit\.yaml:1:9: groups: .*\[XDSKIT_SETTINGS_INVALID\]/);
  });

  test("ends with 2 for a missing folder, settings file or descriptor set", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    for (const args of [
      [join(folder.path, "nowhere")],
      [join(folder.path, "a.yaml")],
      [folder.path, "--settings", join(folder.path, "no.yaml")],
      [folder.path, "--descriptors", join(folder.path, "no.binpb")],
      [folder.path, "--descriptors", join(folder.path, "a.yaml")],
      [folder.path, "--colour"],
    ]) {
      const { status, out, err } = await inProcessEnds("validate", ...args);
      assert.deepEqual({ status, out }, { status: 2, out: "" }, `${args.join(" ")}\n${err}`);
      assert.match(err, /^(xdskit validate: .*\[XDSKIT_\w+\]|error: unknown option)/);
    }
  });

  test("reads a message of the user's own with its descriptor set, and names the option without it", async () => {
    const file = create(FileDescriptorProtoSchema, {
      name: "acme/filter.proto",
      package: "acme",
      syntax: "proto3",
      messageType: [
        {
          name: "Filter",
          field: [
            {
              name: "tenant",
              jsonName: "tenant",
              number: 1,
              type: FieldDescriptorProto_Type.STRING,
              label: FieldDescriptorProto_Label.OPTIONAL,
            },
          ],
        },
      ],
    });
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
    const extension = (field: string) => `"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig
name: acme
typed_config:
  "@type": type.googleapis.com/acme.Filter
  ${field}: a
`;
    await using folder = await testFolder({ "a.yaml": extension("tenant") });
    await using elsewhere = await testFolder({ "settings.yaml": "descriptors: [acme.binpb]\n" });
    await writeFile(join(elsewhere.path, "acme.binpb"), set);
    const without = await inProcessEnds("validate", folder.path);
    assert.equal(without.status, 1);
    assert.match(without.out, /a\.yaml:4:3: .*acme\.Filter.*--descriptors/);
    const byOption = await inProcessEnds("validate", folder.path, "--descriptors", join(elsewhere.path, "acme.binpb"));
    assert.equal(byOption.status, 0, byOption.out);
    const bySettings = await inProcessEnds(
      "validate",
      folder.path,
      "--settings",
      join(elsewhere.path, "settings.yaml"),
    );
    assert.equal(bySettings.status, 0, bySettings.out);
    await folder.write("a.yaml", extension("tenand"));
    const wrong = await inProcessEnds("validate", folder.path, "--descriptors", join(elsewhere.path, "acme.binpb"));
    assert.match(wrong.out, /a\.yaml:5:3: .*tenand.*\[XDSKIT_FIELD_UNKNOWN\]/);
  });

  test("says with on_invalid: skip which resources a server would skip, and still ends with 1", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b", "-1s"),
      "xdskit.yaml": "on_invalid: skip\n",
    });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(out, /b\.yaml:3:\d+: cluster "b".*; skipped: it is not served .*\[XDSKIT_RULE_BROKEN\]/);
    assert.match(
      out,
      /not valid: 2 files, 1 error.*\non_invalid: skip: .* skips 1 resource; .*\n {2}group all: 1 cluster\n$/,
    );
    const { out: json } = await inProcessEnds("validate", folder.path, "--json");
    assert.deepEqual(JSON.parse(json).skipped, { lastGood: 0, absent: 1 });
  });

  test("refuses an empty folder", async () => {
    await using folder = await testFolder();
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(out, /\[XDSKIT_NO_VALID_FILE\]/);
  });

  test("refuses a folder whose groups have no folder with files, as serve does", async () => {
    const groups = "groups: [{ name: edge, match: {}, folders: [edje] }]";
    await using folder = await testFolder({ "edge/a.yaml": clusterYaml("a"), "xdskit.yaml": groups });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(
      out,
      /^\S+edje: group "edge" has none of its folders .*; did you mean "edge"\? \[XDSKIT_GROUP_FOLDERS\]$/m,
    );
    const served = await xdskitEnds(
      "serve",
      folder.path,
      "--grpc",
      "127.0.0.1:0",
      "--admin",
      "127.0.0.1:0",
      "--rest",
      "off",
    );
    assert.equal(served.status, 2);
    assert.match(
      served.err,
      /did you mean "edge"\?; --allow-empty .*\[XDSKIT_GROUP_FOLDERS\]\n.*\[XDSKIT_NO_VALID_FILE\]/,
    );
  });

  test("refuses a folder in which only another group has files", async () => {
    const groups =
      "groups: [{ name: web, match: { id: web }, folders: [web] }, { name: edge, match: {}, folders: [edje] }]";
    await using folder = await testFolder({ "web/a.yaml": clusterYaml("a"), "xdskit.yaml": groups });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(out, /group "edge" has none of its folders.*\[XDSKIT_GROUP_FOLDERS\]/);
  });
});
