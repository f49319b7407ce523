import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";
import { parseTextTree } from "./text-tree.js";

function read(text: string) {
  return readResources({ path: "a.pb_text", bytes: new TextEncoder().encode(text) });
}

/** The findings of a text, one a line. */
function findings(text: string): readonly string[] {
  return read(text).findings.map(describe);
}

const inResponse = (fields: string) => `version_info: "1"
resources {
  [type.googleapis.com/envoy.config.cluster.v3.Cluster] {
    ${fields}
  }
}
`;

suite("the text format", () => {
  test("a text is not kept as an object for each of its fields", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const text = inResponse("lb_policy: RANDOM connect_timeout { seconds: 1 } ".repeat(20)).repeat(500);
    const heapUsed = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heapUsed();
    const tree = parseTextTree(text);
    const size = heapUsed() - before;
    assert.equal(tree.fields.length, 1_000);
    assert.ok(size < 3 * text.length, `${size} bytes for ${text.length} characters`);
  });

  test("a text has many spellings of the same content, and all are read", () => {
    const plain = read(
      inResponse(
        'name: "web" alt_stat_name: "a\\n\\"é" connect_timeout { seconds: 1 } lb_policy: RANDOM ' +
          'metadata { filter_metadata { key: "k" value { fields { key: "x" value { number_value: 1.5 } } } } } ' +
          "health_checks { timeout { seconds: 1 } interval { seconds: 1 } healthy_threshold { value: 16 } unhealthy_threshold { value: 2 } tcp_health_check {} alt_port { value: 80 } }",
      ),
    );
    const odd = read(`# a comment
version_info: '1';
resources: < [type.googleapis.com/envoy.config.cluster.v3.Cluster]: <
  name: 'we' "b", alt_stat_name: "a\\012\\x22" '\\303\\251'; # another
  connect_timeout: <seconds: 0x1>
  lb_policy: 3
  metadata { filter_metadata: [{ value: { fields: { value { number_value: 15e-1 } key: "x" } } key: "k" }] }
  health_checks: [{ timeout { seconds: 01 }, interval { seconds: 1 }, healthy_threshold { value: 020 } unhealthy_threshold { value: 2 } tcp_health_check <> alt_port { value: 80 } }]
>; >
`);
    assert.deepEqual(plain.findings, []);
    assert.deepEqual(odd.findings, []);
    assert.equal(odd.resources[0]?.resource.version, plain.resources[0]?.resource.version);
    assert.deepEqual([plain.resources[0]?.where.line, odd.resources[0]?.where.line], [2, 3]);
  });

  test("a text may have types of v2, which are read as v3", () => {
    const now = read(inResponse('name: "a"'));
    const old = read(inResponse('name: "a"').replace("envoy.config.cluster.v3.Cluster", "envoy.api.v2.Cluster"));
    assert.deepEqual(old.findings, []);
    assert.equal(old.resources[0]?.resource.version, now.resources[0]?.resource.version);
  });

  test("a text gives every mistake with its place", () => {
    const text = inResponse(`nam: "a"
    connect_timeout: 5
    lb_policy: RANDM
    metadata { filter_metadata { key: 7 } }
    type: EDS
    cluster_type {}
    health_checks { timeout { secnds: 1 } }
    health_checks { transport_socket_match_criteria: 1 }
    alt_stat_name: ["a"]
    alt_stat_name: "b"`);
    const at = "resources[0]";
    assert.deepEqual(
      findings(text).map((line) => line.replace(/ \[XDSKIT_\w+\]$/, "")),
      [
        `a.pb_text:4:5: ${at}.nam: envoy.config.cluster.v3.Cluster has no such field; did you mean "name"?`,
        `a.pb_text:5:22: ${at}.connect_timeout: expected a message (google.protobuf.Duration) in { }, found a scalar`,
        `a.pb_text:6:16: ${at}.lb_policy: unknown enum value "RANDM" for enum envoy.config.cluster.v3.Cluster.LbPolicy`,
        `a.pb_text:7:34: ${at}.metadata.filter_metadata["7"]: expected a string`,
        `a.pb_text:9:5: ${at}.cluster_type: only one of type and cluster_type may be set`,
        `a.pb_text:10:31: ${at}.health_checks[0].timeout.secnds: google.protobuf.Duration has no such field; did you mean "seconds"?`,
        `a.pb_text:11:54: ${at}.health_checks[1].transport_socket_match_criteria: expected a message (google.protobuf.Struct) in { }, found a scalar`,
        `a.pb_text:12:5: ${at}.alt_stat_name: is not repeated: expected one value, found a list`,
        `a.pb_text:13:5: ${at}.alt_stat_name: is there twice`,
      ],
    );
  });

  test("a text gives the mistakes that only the text format can have", () => {
    assert.match(findings(inResponse('name "a"')).join(), /^a\.pb_text:4:5: resources\[0\]\.name: lacks the colon/);
    assert.match(findings(inResponse('name: "\\xff"')).join(), /^a\.pb_text:4:11: .*invalid UTF-8/);
    const twice = "resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] {} type_url: 'a' }";
    assert.match(findings(twice).join(), /^a\.pb_text:1:13: resources\[0\]: an Any has nothing beside/);
  });

  test("a text gives a broken rule with its place", () => {
    const text = inResponse(`name: "a"
    health_checks { timeout { seconds: 1 } }
    health_checks: [
      { timeout { seconds: 0 } interval { seconds: 1 } unhealthy_threshold { value: 1 } healthy_threshold { value: 1 } tcp_health_check {} }
    ]`);
    assert.match(
      findings(text).at(-1) ?? "",
      /^a\.pb_text:7:9: cluster "a", health_checks\[1\]\.timeout: must be more than 0s \(duration\.gt: 0s\)/,
    );
  });

  test("a resource is read once for all places in it that are looked for, and no longer than that", () => {
    const [first, second] = parseTextTree("resources { a: 1 } resources { b: 2 }").fields.map(
      ({ values }) => values[0],
    );
    assert.ok(first?.kind === "message" && second?.kind === "message");
    const { message } = first;
    assert.equal(first.message, message);
    assert.equal(second.message.fields[0]?.name, "b");
    assert.notEqual(first.message, message);
  });
});
