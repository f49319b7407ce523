import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, XdskitError } from "@xdskit/api";
import { readSettings } from "./read-settings.js";
import { serverOptions } from "./server-settings.js";

function findingsOf(text: string): string[] {
  try {
    readSettings("xdskit.yaml", text);
  } catch (error) {
    assert.ok(error instanceof XdskitError, String(error));
    return error.findings.map(describe);
  }
  assert.fail("no finding");
}

test("an empty file means the defaults", () => {
  assert.deepEqual(readSettings("xdskit.yaml", ""), {});
  assert.deepEqual(readSettings("xdskit.yaml", "# nothing yet\n"), {});
});

test("groups are read in order, folders normalized", () => {
  const { groups } = readSettings(
    "xdskit.yaml",
    `
groups:
  - name: edge
    match: { cluster: "edge-*", locality.zone: eu-1, metadata.stage: prod, metadata.shard: 7 }
    folders: [shared, ./edge/]
  - name: rest
    match: {}
    folders: [shared]
`,
  );
  assert.deepEqual(groups, [
    {
      name: "edge",
      match: { cluster: "edge-*", "locality.zone": "eu-1", "metadata.stage": "prod", "metadata.shard": "7" },
      folders: ["shared", "edge"],
    },
    { name: "rest", match: {}, folders: ["shared"] },
  ]);
});

test("the times of ordering become milliseconds, and missing ones keep their defaults", () => {
  const orderingOf = (text: string) => serverOptions(readSettings("xdskit.yaml", text)).ordering;
  assert.deepEqual(orderingOf("ordering: { drain: 20m, linger: 0s }\n"), { drainMs: 1_200_000, lingerMs: 0 });
  assert.deepEqual(orderingOf("ordering: { named: 600s }\n"), { namedMs: 600_000 });
  assert.equal(orderingOf('ordering: "off"\n'), false);
});

test("an error inside a value that may be off, or a list, names the wrong key", () => {
  const findings = findingsOf(`rollout: { steps: [{ percent: 10 }], soak: 30, halt_aftr: 1 }
ordering: { named: 5 }
load_reports: { clusters: sum }
`);
  const aDuration = 'expected a duration with its unit, such as "100ms", "30s" or "2m"';
  assert.deepEqual(findings, [
    `xdskit.yaml:1:44: rollout.soak: ${aDuration} [XDSKIT_SETTINGS_INVALID]`,
    'xdskit.yaml:1:48: rollout.halt_aftr: there is no such setting; did you mean "halt_after"? [XDSKIT_SETTINGS_INVALID]',
    `xdskit.yaml:2:20: ordering.named: ${aDuration} [XDSKIT_SETTINGS_INVALID]`,
    'xdskit.yaml:3:27: load_reports.clusters: expected "all", or a list of names of clusters [XDSKIT_SETTINGS_INVALID]',
  ]);
  const [steps] = findingsOf("rollout: { steps: [{ percent: 0 }, { foo: 1 }] }");
  assert.match(steps ?? "", /^xdskit.yaml:1:\d+: rollout\.steps\[0\]/);
});

test("workers is a number up to the limit, or auto", () => {
  for (const workers of ["auto", 1, 64])
    assert.deepEqual(readSettings("xdskit.yaml", `workers: ${workers}`), { workers });
  for (const wrong of ["99", "0", "1.5", "many"]) {
    assert.deepEqual(findingsOf(`ttl: always\nworkers: ${wrong}\n`), [
      'xdskit.yaml:2:10: workers: expected "auto", or a whole number of processes from 1 to 64 [XDSKIT_SETTINGS_INVALID]',
    ]);
  }
});

test("a certificate needs its key, and both are files", () => {
  assert.deepEqual(readSettings("xdskit.yaml", "tls: { cert: a.pem, key: a.key, client_ca: ca.pem }").tls, {
    cert: "a.pem",
    key: "a.key",
    client_ca: "ca.pem",
  });
  assert.deepEqual(findingsOf("tls: { cert: a.pem }\n"), [
    "xdskit.yaml:1:1: tls.key: is missing [XDSKIT_SETTINGS_INVALID]",
  ]);
  assert.deepEqual(findingsOf('tls: { cert: "", key: a.key, ca: b }\n'), [
    "xdskit.yaml:1:14: tls.cert: must not be empty [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:1:30: tls.ca: there is no such setting [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("a private key in place of its path is not shown", () => {
  const key = "-----BEGIN PRIVATE KEY-----\n    c2VjcmV0\n    -----END PRIVATE KEY-----";
  const expected = (line: number) => [
    `xdskit.yaml:${line}: tls.key: expected the path of a file, and not what stands in it [XDSKIT_SETTINGS_INVALID]`,
  ];
  for (const style of ["|\n    ", "", '"']) {
    const end = style === '"' ? style : "";
    const found = findingsOf(`tls:\n  cert: a.pem\n  key: ${style}${key}${end}\n`);
    assert.deepEqual(
      found.map((finding) => finding.replace(/:(\d+):\d+:/, ":$1:")),
      expected(3),
    );
  }
});

test("unknown keys and wrong values are all reported at once, each with its place", () => {
  const findings = findingsOf(`groups:
  - name: edge
    matches: {}
    match:
      cluser: x
      cluster: [a]
    folders: [../other]
  - name: edge
    match: {}
    folders: []
color: blue
`);
  assert.deepEqual(findings, [
    'xdskit.yaml:3:5: groups[0].matches: there is no such setting; did you mean "match"? [XDSKIT_SETTINGS_INVALID]',
    "xdskit.yaml:5:7: groups[0].match.cluser: there is no such field of a node; known are id, cluster, locality.region, locality.zone, locality.sub_zone and metadata.KEY [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:6:16: groups[0].match.cluster: expected a string [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:7:15: groups[0].folders[0]: expected a folder below the configuration folder, relative to it [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:10:14: groups[1].folders: a group needs a folder [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:11:1: color: there is no such setting [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("two groups of one name are refused", () => {
  const text = "groups:\n  - { name: a, match: {}, folders: [a] }\n  - { name: a, match: {}, folders: [b] }\n";
  assert.deepEqual(findingsOf(text), [
    'xdskit.yaml:3:13: groups[1].name: there are two groups named "a" [XDSKIT_SETTINGS_INVALID]',
  ]);
});

test("a folder that a group names twice is refused", () => {
  assert.deepEqual(findingsOf("groups:\n  - { name: a, match: {}, folders: [a, b, ./a/] }\n"), [
    'xdskit.yaml:2:43: groups[0].folders[2]: the folder "a" stands here twice [XDSKIT_SETTINGS_INVALID]',
  ]);
});

test("durations need a unit, counts are whole and positive", () => {
  const { folder, keepalive } = readSettings(
    "xdskit.yaml",
    "folder: { settle: 1.5s, poll: 0s }\nkeepalive: { interval: 2m }\n",
  );
  assert.deepEqual([folder, keepalive], [{ settle: 1500, poll: 0 }, { interval: 120_000 }]);
  assert.deepEqual(findingsOf("folder: { settle: 100 }\nlimits: { streams: 0, request_bytes: 1.5 }\n"), [
    'xdskit.yaml:1:19: folder.settle: expected a duration with its unit, such as "100ms", "30s" or "2m" [XDSKIT_SETTINGS_INVALID]',
    "xdskit.yaml:2:20: limits.streams: expected a whole number above 0 [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:2:38: limits.request_bytes: expected a whole number above 0 [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("load reports are about all clusters or some, with an interval", () => {
  const { load_reports: settings, groups } = readSettings(
    "xdskit.yaml",
    "load_reports: { interval: 2s, clusters: [a], endpoints: true }\ngroups: [{ name: a, match: {}, folders: [a], load_reports: { clusters: all } }]\n",
  );
  assert.deepEqual(settings, { interval: 2_000, clusters: ["a"], endpoints: true });
  assert.deepEqual(groups?.[0]?.load_reports, { clusters: "all" });
  const wrong = "load_reports: { interval: 99ms, clusters: [], endpoints: 1 }\n";
  assert.deepEqual(findingsOf(wrong), [
    "xdskit.yaml:1:27: load_reports.interval: load reports cannot come more often than every 100ms [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:1:43: load_reports.clusters: name a cluster, or say all [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:1:58: load_reports.endpoints: expected true or false [XDSKIT_SETTINGS_INVALID]",
  ]);
  assert.deepEqual(findingsOf("load_reports: { interval: 721h, clusters: some }\n"), [
    "xdskit.yaml:1:27: load_reports.interval: load reports must come within 30 days [XDSKIT_SETTINGS_INVALID]",
    'xdskit.yaml:1:43: load_reports.clusters: expected "all", or a list of names of clusters [XDSKIT_SETTINGS_INVALID]',
  ]);
});

test("ttl is one of three words", () => {
  const { ttl, groups } = readSettings(
    "xdskit.yaml",
    "ttl: always\ngroups: [{ name: a, match: {}, folders: [a], ttl: auto }, { name: b, match: {}, folders: [b], ttl: advertised }]\n",
  );
  assert.deepEqual([ttl, ...(groups ?? []).map((group) => group.ttl)], ["always", "auto", "advertised"]);
  assert.deepEqual(findingsOf("ttl: never\n"), [
    "xdskit.yaml:1:6: ttl: expected auto, advertised or always [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("a missing value is reported at its parent", () => {
  assert.deepEqual(findingsOf("groups:\n  - folders: [a]\n"), [
    "xdskit.yaml:2:5: groups[0].name: is missing [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:2:5: groups[0].match: expected what the fields of a node must be, such as { cluster: edge-* }; {} matches every node [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("broken YAML is a syntax error with its place", () => {
  const [first] = findingsOf("groups:\n  - name: [a\n");
  assert.match(first ?? "", /^xdskit\.yaml:\d+:\d+: .* \[XDSKIT_SYNTAX\]$/);
  const [duplicate] = findingsOf("groups: []\ngroups: []\n");
  assert.match(duplicate ?? "", /^xdskit\.yaml:2:1: .*unique/);
});

test("aliases that lead nowhere, or grow without end, are syntax errors", () => {
  assert.match(findingsOf("groups: *nothing\n")[0] ?? "", /^xdskit\.yaml:1:9: .*alias[^:]*\[XDSKIT_SYNTAX\]$/);
  const lines = Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${Array(9).fill(`*x${i}`).join(", ")}]`);
  assert.match(findingsOf(["x0: &x0 a", ...lines].join("\n"))[0] ?? "", /alias.*\[XDSKIT_SYNTAX\]$/);
});

test("endless nesting is refused", () => {
  assert.match(findingsOf(`groups: ${"[".repeat(20_000)}`)[0] ?? "", /^xdskit\.yaml:\d+:\d+: .*\[XDSKIT_SYNTAX\]$/);
});

test("a file that is no mapping is refused", () => {
  assert.deepEqual(findingsOf("- a\n"), [
    "xdskit.yaml:1:1: expected a mapping, found a list [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("values of the wrong kind are explained in plain words", () => {
  const found = (text: string) =>
    findingsOf(text).map((line) => line.replace(/^xdskit.yaml:\d+:\d+: | \[XDSKIT_\w+\]$/g, ""));
  assert.deepEqual(found("groups: edge\nlimits: [1]\nfolder:\ndescriptors: [7, '']\n"), [
    "groups: expected a list, found a string",
    "limits: expected a mapping, found a list",
    "folder: expected a mapping, found nothing",
    "descriptors[0]: expected a string, found a number",
    "descriptors[1]: must not be empty",
  ]);
});

test("services can be turned off", () => {
  const { loadReports, clientStatus, reflection } = serverOptions(
    readSettings("xdskit.yaml", "load_reports: off\ncsds: off\nreflection: off\n"),
  );
  assert.deepEqual([loadReports, clientStatus, reflection], [false, false, false]);
  const on = serverOptions(readSettings("xdskit.yaml", "csds: on\nreflection: on\n"));
  assert.deepEqual([on.loadReports, on.clientStatus, on.reflection], [{}, true, true]);
  assert.deepEqual(findingsOf("csds: maybe\n"), [
    "xdskit.yaml:1:7: csds: expected on or off [XDSKIT_SETTINGS_INVALID]",
  ]);
});

test("layers of the API have names of their own, and groups that exist", () => {
  const text = `groups: [{ name: edge, match: {}, folders: [shared] }]
layers:
  - { name: shared }
  - { name: a, groups: [edge, core] }
  - { name: a, place: beside }
  - { name: folder }
`;
  assert.deepEqual(findingsOf(text), [
    "xdskit.yaml:5:23: layers[2].place: expected over or under: what wins where the folder has a resource of the same name [XDSKIT_SETTINGS_INVALID]",
    "xdskit.yaml:6:13: layers[3].name: the API calls the folder so [XDSKIT_SETTINGS_INVALID]",
  ]);
  const further = text.replace("place: beside", "place: under").replace("name: folder", "name: b");
  assert.deepEqual(findingsOf(further), [
    'xdskit.yaml:3:13: layers[0].name: the folder "shared" of a group is a layer of this name [XDSKIT_SETTINGS_INVALID]',
    'xdskit.yaml:4:31: layers[1].groups[1]: there is no group "core" [XDSKIT_SETTINGS_INVALID]',
    'xdskit.yaml:5:13: layers[2].name: there are two layers named "a" [XDSKIT_SETTINGS_INVALID]',
  ]);
});
