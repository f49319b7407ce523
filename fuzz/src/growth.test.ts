import assert from "node:assert/strict";
import { test } from "node:test";
import { readResourceRequest, readResources } from "@xdskit/api";
import { effortOf } from "./kit/effort.js";

const typeOf = (name: string) => `type.googleapis.com/${name}`;
const cluster = typeOf("envoy.config.cluster.v3.Cluster");
const routeType = typeOf("envoy.config.route.v3.RouteConfiguration");
const each = (count: number, make: (index: number) => string, separator = "") =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const hosts = (count: number, domain: (index: number) => string) =>
  `{"@type":"${routeType}","name":"x","virtual_hosts":[${each(count, (i) => `{"name":"h${i}","domains":["${domain(i)}"]}`, ",")}]}`;

const portsOf = (name: string, count: number) =>
  `{"@type":"${typeOf("envoy.config.listener.v3.Listener")}","name":"x",${listener.slice(1, -3)}"filter_chain_match":{"server_names":["${name}"],"source_ports":[${each(count, (i) => `${10_000 + i}`, ",")}]}}]}`;
const typed = `"@type":"${cluster}"`;
const dumpOf = (entries: string) =>
  `{"configs":[{"@type":"${typeOf("envoy.admin.v3.ClustersConfigDump")}","static_clusters":[${entries}]}]}`;
const bootstrapOf = (members: string) => `{"static_resources":{${members}}}`;
const listener = '{"address":{"socket_address":{"address":"::","port_value":1}},"filter_chains":[{}]}';

/** Files with many of one thing, by that thing, with the count that makes some milliseconds of work. */
const shapes: readonly (readonly [what: string, path: string, count: number, make: (count: number) => string])[] = [
  ["resources", "a.pb_text", 400, (n) => each(n, (i) => `resources { [${cluster}] { name: "c${i}" } }\n`)],
  ["empty resources", "a.pb_text", 2_000, (n) => "resources {} ".repeat(n)],
  ["bad resources", "a.pb_text", 500, (n) => `resources { [${cluster}] { name: "" } } `.repeat(n)],
  ["repeated fields", "a.pb_text", 4_000, (n) => 'version_info: "a" '.repeat(n)],
  ["unknown fields", "a.pb_text", 8_000, (n) => "a: 1 ".repeat(n)],
  ["strings", "a.pb_text", 8_000, (n) => `version_info: ${"'' ".repeat(n)}`],
  ["items", "a.yaml", 3_000, (n) => "- 1\n".repeat(n)],
  ["flow items", "a.yaml", 3_000, (n) => `[${"1,".repeat(n)}]`],
  ["keys", "a.yaml", 3_000, (n) => each(n, (i) => `k${i}: 1\n`)],
  ["unknown fields", "a.yaml", 1_000, (n) => `"@type": ${cluster}\n${each(n, (i) => `k${i}: 1\n`)}`],
  ["documents", "a.yaml", 1_000, (n) => "---\na: 1\n".repeat(n)],
  ["mistakes", "a.yaml", 1_000, (n) => "a: b: c\n".repeat(n)],
  ["anchors", "a.yaml", 1_000, (n) => `${each(n, (i) => `- &a${i} x\n`)}${each(n, (i) => `- *a${i}\n`)}`],
  ["merges", "a.yaml", 500, (n) => `- &a {a: 1}\n${"- {<<: *a, b: 1}\n".repeat(n)}`],
  ["aliases that lead nowhere", "a.yaml", 3_000, (n) => "- *x\n".repeat(n)],
  ["unknown tags", "a.yaml", 1_000, (n) => "- !x 1\n".repeat(n)],
  ["lines of a text", "a.yaml", 10_000, (n) => `a: |\n${"  x\n".repeat(n)}`],
  ["comments", "a.yaml", 5_000, (n) => `${"#\n".repeat(n)}a`],
  ["bad resources", "a.yaml", 300, (n) => `- {"@type": ${cluster}, nam: a}\n`.repeat(n)],
  ["items", "a.json", 5_000, (n) => `[${"{},".repeat(n)}1]`],
  ["bad resources", "a.json", 500, (n) => `[${`{"@type":"${cluster}","name":"x","nam":"a"},`.repeat(n)}{}]`],
  [
    "broken rules",
    "a.json",
    1_000,
    (n) => `[${`{"@type":"${cluster}","name":"x","connect_timeout":"0s"},`.repeat(n)}{}]`,
  ],
  ["unknown types", "a.json", 2_000, (n) => `[${each(n, (i) => `{"@type":"${cluster}${i}"}`, ",")}]`],
  ["long numbers", "a.json", 5_000, (n) => `[${"12345678901234567890,".repeat(n)}1]`],
  [
    "digits",
    "a.json",
    50_000,
    (n) => `{"@type":"${cluster}","name":"x","metadata":{"filter_metadata":{"a":{"b":${"1".repeat(n)}}}}}`,
  ],
  ["escapes", "a.json", 50_000, (n) => `["${'\\"'.repeat(n)}",]`],
  ["clusters of a dump", "a.json", 500, (n) => dumpOf(each(n, (i) => `{"cluster":{${typed},"name":"c${i}"}}`, ","))],
  ["bad clusters of a dump", "a.json", 500, (n) => dumpOf(each(n, () => `{"cluster":{${typed},"nam":"c"}}`, ","))],
  [
    "pods of a dump",
    "a.yaml",
    100,
    (n) => `{"ns":{${each(n, (i) => `"p${i}":${dumpOf(`{"cluster":{${typed},"name":"c"}}`)}`, ",")}}}`,
  ],
  ["resources without types", "a.json", 500, (n) => `[${each(n, (i) => `{"name":"c${i}","type":"STATIC"}`, ",")}]`],
  ["listeners without names", "a.json", 1_000, (n) => bootstrapOf(`"listeners":[${each(n, () => listener, ",")}]`)],
  ["unknown keys of a bootstrap", "a.json", 2_000, (n) => bootstrapOf(each(n, (i) => `"listenrs${i}":1`, ","))],
  ["keys", "body.json", 2_000, (n) => `{${each(n, (i) => `"k${i}":1,`)}"upsert":[]}`],
  ["names", "body.json", 2_000, (n) => `{"delete":[${each(n, (i) => `{"type":"cds","name":"c${i}"}`, ",")}]}`],
  ["bad names", "body.json", 1_000, (n) => `{"delete":[${each(n, () => "{}", ",")}]}`],
  ["unknown fields", "a.json", 1_000, (n) => `{${typed},${each(n, (i) => `"k${i}":1`, ",")}}`],
  ["lines without an indent", "a.yaml", 1_000, (n) => `a: "${"x\n".repeat(n)}"`],
  ["virtual hosts", "a.json", 1_000, (n) => hosts(n, (i) => `d${i}`)],
  ["ports for a long name", "a.json", 300, (n) => portsOf("a".repeat(20_000), n)],
  ["domains that come twice", "a.json", 1_000, (n) => hosts(n, () => "d")],
];

/** The factor that eight times as much may cost: work that grows with the square of a file costs 64 times as much. */
const most = 28;
/** Shorter times, in ms, are mostly the compiler's and the collector's. */
const floorMs = 12;

for (const [what, path, count, make] of shapes) {
  test(`the cost of reading many ${what} (${path.slice(2)}) grows with the file, not with its square`, async () => {
    const read = (times: number) => {
      const file = { path, bytes: new TextEncoder().encode(make(times)) };
      const { bytes } = file;
      const keys = { resources: "upsert", named: "delete", fields: [] };
      return effortOf(async () => {
        if (path.startsWith("body")) await readResourceRequest(bytes, { form: "json", keys, name: path });
        else readResources(file);
      });
    };
    const tries: string[] = [];
    // The collector may disturb one attempt.
    for (let attempt = 0; attempt < 4; attempt++) {
      const [small, large] = [await read(count), await read(count * 8)];
      if (large <= most * Math.max(small, floorMs)) return;
      tries.push(`${Math.round(small)} ms, eight times as much ${Math.round(large)} ms`);
    }
    assert.fail(tries.join("; "));
  });
}

/** Regular expressions that expand to much more than their characters, by the length that they must have. */
const dear: Readonly<Record<string, (length: number) => string>> = {
  "bounded repetitions": (length) => "(?:a?){999}".repeat(length / 11),
  "repetitions inside each other": (length) => "(?:(?:a{9}b?){9}c){9}".repeat(length / 21),
  "ranges without case": (length) => `(?i)[${"a-\uffff".repeat(length / 3)}]`,
  "classes of Unicode": (length) => `[${"\\\\pL".repeat(length / 3)}]`,
  "classes that are not closed": (length) => "[".repeat(length),
  "braces that are not closed": (length) => "\\\\x{".repeat(length / 3),
  "quotes that are not closed": (length) => "\\\\Q".repeat(length / 2),
  "groups that are not closed": (length) => "(?:".repeat(length / 3),
};

for (const [what, make] of Object.entries(dear)) {
  test(`the cost of checking a regular expression grows with its length, not with its expansion: ${what}`, async () => {
    const read = (expression: (length: number) => string) => {
      const routes = each(
        5,
        (i) => `{"match":{"safe_regex":{"regex":"${i}${expression(5_500)}"}},"direct_response":{"status":200}}`,
        ",",
      );
      const text = `{"@type":"${routeType}","name":"x","virtual_hosts":[{"name":"h","domains":["*"],"routes":[${routes}]}]}`;
      return effortOf(() => readResources({ path: "a.json", bytes: new TextEncoder().encode(text) }));
    };
    const plainly = (length: number) => "a".repeat(length);
    // The very first check also reads the types.
    await read(plainly);
    const tries: string[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      const [plain, other] = [await read(plainly), await read(make)];
      if (other <= most * Math.max(plain, floorMs)) return;
      tries.push(`${Math.round(plain)} ms, this ${Math.round(other)} ms`);
    }
    assert.fail(tries.join("; "));
  });
}
