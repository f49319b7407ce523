import assert from "node:assert/strict";
import { describe as suite, test } from "node:test";
import { describe } from "./errors.js";
import { readResources } from "./resource-file.js";

/** What a file gives, on lines: its resources, then its findings. */
function read(path: string, text: string | Uint8Array): readonly string[] {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const { resources, findings } = readResources({ path, bytes });
  return [
    ...resources.map(({ resource, where }) => `${where.line}: ${resource.type.name} ${resource.name}`),
    ...findings.map(describe),
  ];
}

const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

suite("forms of a file", () => {
  test("one resource", () => {
    assert.deepEqual(read("a.yaml", `# comment\n"@type": ${cluster}\nname: web\n`), ["2: cluster web"]);
    assert.deepEqual(read("a.json", `{"@type": "${cluster}", "name": "web"}`), ["1: cluster web"]);
  });
  test("a list", () => {
    assert.deepEqual(read("a.yml", `- "@type": ${cluster}\n  name: a\n- "@type": ${cluster}\n  name: b\n`), [
      "1: cluster a",
      "3: cluster b",
    ]);
    assert.deepEqual(
      read("a.json", `[\n{"@type": "${cluster}", "name": "a"},\n{"@type": "${cluster}", "name": "b"}]`),
      ["2: cluster a", "3: cluster b"],
    );
  });
  test("an unknown field", () => {
    const text = `"@type": ${cluster}\nname: web\nlb_polcy: RANDOM\nload_assignment:\n  endpoints:\n  - lbendpoints: []\n`;
    assert.deepEqual(read("a.yaml", text), [
      'a.yaml:3:1: cluster "web", lb_polcy: envoy.config.cluster.v3.Cluster has no such field; did you mean "lb_policy"? [XDSKIT_FIELD_UNKNOWN]',
      'a.yaml:6:5: cluster "web", load_assignment.endpoints[0].lbendpoints: envoy.config.endpoint.v3.LocalityLbEndpoints has no such field; ' +
        'did you mean "lb_endpoints"? [XDSKIT_FIELD_UNKNOWN]',
    ]);
    assert.deepEqual(read("a.json", `[\n{"@type": "${cluster}",\n "connectTimeout": 5}]`), [
      'a.json:3:2: cluster, connect_timeout: expected a duration in seconds such as "0.25s", found a number [XDSKIT_FIELD_INVALID]',
    ]);
  });
});
