import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { createResource, readJsonResponse, resourceTypes } from "@xdskit/api";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { namesIn } from "../../testing/clients/rest-client.js";
import { withRest } from "../../testing/running-rest.js";
import { cluster } from "../../testing/test-resources.js";

const node = { id: "n1" };
const clusters = "/v3/discovery:clusters";

function withExtension(name: string, typeUrl: string, ...value: readonly number[]): Cluster {
  const any = create(AnySchema, { typeUrl, value: Uint8Array.from(value) });
  return create(ClusterSchema, { name, typedExtensionProtocolOptions: { own: any } });
}

/** With a field 9999 in its circuit breakers. */
function withUnknownField(name: string): Cluster {
  const made = create(ClusterSchema, { name, circuitBreakers: { thresholds: [{}] } });
  const thresholds = made.circuitBreakers?.thresholds[0] ?? assert.fail();
  thresholds.$unknown = [{ no: 9_999, wireType: 2, data: Uint8Array.of(1, 65) }];
  return made;
}

/** JSON has no such number. */
function withoutJson(name: string): Cluster {
  return create(ClusterSchema, { name, metadata: { filterMetadata: { x: { limit: Number.POSITIVE_INFINITY } } } });
}

/** The bodies that our own client reads of an answer. */
function bodiesIn(json: unknown): readonly Buffer[] {
  const type = resourceTypes.find("cluster") ?? assert.fail();
  const read = readJsonResponse(Buffer.from(JSON.stringify(json)), { type });
  assert.ok(read.kind === "response");
  return fromBinary(DiscoveryResponseSchema, read.bytes).resources.map(({ value }) => Buffer.from(value));
}

describe("a poll for content that JSON cannot express", () => {
  it("a poll is answered with inexpressible content in base64, which is reported once", () =>
    withRest({ validate: false }, async ({ server, client, events }) => {
      const made = [
        withExtension("broken", "type.googleapis.com/envoy.config.core.v3.Node", 255),
        withUnknownField("field"),
        withExtension("own", "type.googleapis.com/acme.Own", 8, 1),
        cluster("plain"),
      ];
      server.config.set(made);
      const { status, json } = await client.send(clusters, { node });
      assert.equal(status, 200);
      assert.deepEqual(
        bodiesIn(json),
        made.map((message) => Buffer.from(createResource(message).body)),
      );
      await client.send(clusters, { node: { id: "n2" } });
      const told = events.flatMap((event) => (event.kind === "json-incomplete" ? [event] : []));
      assert.deepEqual(
        told.map(({ name, leftOut, findings }) => `${name} ${leftOut} ${findings.map(({ field }) => field).join()}`),
        [
          'broken false typed_extension_protocol_options["own"]',
          "field false circuit_breakers.thresholds[0]",
          'own false typed_extension_protocol_options["own"]',
        ],
      );
      assert.match(told[1]?.findings[0]?.message ?? "", /^field 9999: JSON has no form for it/);
      const [row] = server.stats().polls;
      assert.deepEqual([row?.incomplete, row?.leftOut], [3, 0]);
    }));

  it("a poll is answered without a resource that JSON cannot express, and with all others", () =>
    withRest({}, async ({ server, client, events }) => {
      server.config.set([cluster("a"), withoutJson("b"), cluster("c")]);
      for (const id of ["n1", "n2"]) {
        const answer = await client.send(clusters, { node: { id } });
        assert.deepEqual(namesIn(answer), ["a", "c"]);
      }
      const told = events.flatMap((event) => (event.kind === "json-incomplete" ? [event] : []));
      assert.deepEqual(
        told.map(({ name, leftOut, findings }) => [name, leftOut, findings[0]?.resource, findings[0]?.severity]),
        [["b", true, "b", "error"]],
      );
      assert.equal(server.stats().polls[0]?.leftOut, 1);
    }));
});
