import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { resourceTypes } from "../resource-types/resource-types.js";
import { type ReadResponseJson, readJsonResponse } from "./json-response.js";

const [cluster] = [...resourceTypes].filter(({ name }) => name === "cluster");
const url = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

function read(body: unknown): ReadResponseJson {
  assert.ok(cluster !== undefined);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readJsonResponse(new TextEncoder().encode(text), { type: cluster });
}

/** A response that was read, and its unread resources, one per line. */
function taken(body: unknown) {
  const answer = read(body);
  assert.equal(answer.kind, "response", JSON.stringify(answer));
  const response = fromBinary(DiscoveryResponseSchema, answer.bytes);
  const unread = answer.unread.flatMap(({ index, name, findings }) =>
    findings.map(({ code, field, message }) => `${index} ${name} ${field ?? ""}: ${message} ${code}`),
  );
  return { response, unread };
}

suite("a DiscoveryResponse in JSON", () => {
  test("a response in JSON becomes the same in binary, in both spellings (rules 140, 141)", () => {
    for (const body of [
      { versionInfo: "1", nonce: "n", typeUrl: url, resources: [{ "@type": url, name: "a", connectTimeout: "1s" }] },
      { version_info: "1", nonce: "n", type_url: url, resources: [{ "@type": url, name: "a", connect_timeout: "1s" }] },
    ]) {
      const { response, unread } = taken(body);
      assert.deepEqual([response.versionInfo, response.nonce, response.typeUrl], ["1", "n", url]);
      const [any] = response.resources;
      assert.equal(any?.typeUrl, url);
      assert.equal(fromBinary(ClusterSchema, any?.value ?? new Uint8Array()).connectTimeout?.seconds, 1n);
      assert.deepEqual(unread, []);
    }
  });

  test("a response may lack every field, be of v2, and hold wrapped resources", () => {
    assert.deepEqual(taken({}).response.resources, []);
    assert.deepEqual(taken({ resources: null }).response.resources, []);
    const v2 = "type.googleapis.com/envoy.api.v2.Cluster";
    assert.equal(taken({ resources: [{ "@type": v2, name: "a" }] }).response.resources[0]?.typeUrl, v2);
    const wrapper = "type.googleapis.com/envoy.service.discovery.v3.Resource";
    const wrapped = { "@type": wrapper, name: "a", ttl: "3s", resource: { "@type": url, name: "a" } };
    const value = taken({ resources: [wrapped] }).response.resources[0]?.value ?? new Uint8Array();
    const inner = fromBinary(ResourceSchema, value);
    assert.deepEqual([inner.name, inner.ttl?.seconds, inner.resource?.typeUrl], ["a", 3n, url]);
  });

  test("a response may have fields that are newer than our protos, and numbers of 64 bits", () => {
    const newer = { "@type": url, name: "a", field_of_next_year: { a: 1 }, max_requests_per_connection: 5 };
    const { response, unread } = taken({ resources: [newer], also_new: 1 });
    assert.deepEqual(unread, []);
    assert.equal(fromBinary(ClusterSchema, response.resources[0]?.value ?? new Uint8Array()).name, "a");
    const big = `{"resources": [{"@type": "${url}", "name": "a", "ring_hash_lb_config": {"maximum_ring_size": 9007199254740993}}]}`;
    const { lbConfig } = fromBinary(ClusterSchema, taken(big).response.resources[0]?.value ?? new Uint8Array());
    assert.equal(lbConfig.case === "ringHashLbConfig" && lbConfig.value.maximumRingSize, 9007199254740993n);
  });

  test("an unknown enum value is reported after more unknown fields than there may be findings", () => {
    const load = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
    const endpoints = (count: number, ...more: object[]) => {
      const newer = Array.from({ length: count }, () => ({ field_of_next_year: 1 }));
      const resource = { "@type": load, cluster_name: "a", endpoints: [{ lb_endpoints: [...newer, ...more] }] };
      return taken({ resources: [resource] });
    };
    for (const count of [50, 150]) {
      assert.deepEqual(endpoints(count).unread, []);
      assert.match(endpoints(count, { health_status: "FROBNICATED" }).unread.join("\n"), /^0 a .*health_status: .*$/);
    }
  });

  test("each unreadable resource is reported separately, and the others are taken", () => {
    const { response, unread } = taken({
      resources: [
        { "@type": url, name: "good" },
        { "@type": url, name: "a", connect_timeout: "soon", newer: 1 },
        { "@type": url, name: "b", lb_policy: "NONSENSE" },
        { name: "c" },
        { "@type": "type.googleapis.com/envoy.Nonsense", name: "d" },
        4711,
        { "@type": url, name: 5 },
      ],
    });
    assert.equal(response.resources.length, 1);
    assert.deepEqual(
      unread.map((line) => line.replace(/(expected|it lacks|the type \S+).*(?= XDSKIT)/, "$1 …")),
      [
        "1 a connect_timeout: expected … XDSKIT_FIELD_INVALID",
        "2 b lb_policy: expected … XDSKIT_FIELD_INVALID",
        "3 c : it lacks … XDSKIT_TYPE_MISSING",
        "4 d : the type envoy.Nonsense … XDSKIT_TYPE_UNKNOWN",
        "5 undefined : expected … XDSKIT_MESSAGE_INVALID",
        "6 undefined name: expected … XDSKIT_FIELD_INVALID",
      ],
    );
  });

  test("a text that is no JSON or no object is refused, and its content is not shown", () => {
    const cases: readonly (readonly [body: string, message: RegExp])[] = [
      ["", /^the body is empty$/],
      ["<html>hunter2</html>", /^the body is no JSON: line 1, column 1: /],
      ['{"resources": [\n{"a": hunter2', /^the body is no JSON: line 2, column 7: /],
      ["[]", /no JSON object/],
      ["null", /no JSON object/],
      ['{"resources": "hunter2"}', /^resources: expected a list$/],
      ['{"version_info": ["hunter2"]}', /^it is no DiscoveryResponse: version_info: expected a string/],
      ['{"nonce": "1", "nonce": "2"}', /the key "nonce" comes twice/],
      [`{"resources": ${"[".repeat(100_000)}`, /nested deeper/],
    ];
    for (const [body, message] of cases) {
      const answer = read(body);
      assert.equal(answer.kind, "problem", body.slice(0, 50));
      assert.match(answer.message, message);
      assert.doesNotMatch(answer.message, /hunter2/);
    }
  });
});
