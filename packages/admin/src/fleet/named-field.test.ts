import assert from "node:assert/strict";
import { it } from "node:test";
import { fieldNamedIn } from "./named-field.js";

it("the field that an Envoy names in its words is found, through lists and messages", () => {
  const deep =
    "Proto constraint validation failed (ClusterLoadAssignmentValidationError.Endpoints[0]: embedded message failed " +
    "validation | caused by LocalityLbEndpointsValidationError.Priority: value must be less than or equal to 128)";
  assert.deepEqual(fieldNamedIn(deep), ["endpoints", 0, "priority"]);
  const timeout = 'failed (ClusterValidationError.ConnectTimeout: ["value must be greater than " "0s"]): name: "ab"';
  assert.deepEqual(fieldNamedIn(timeout), ["connect_timeout"]);
  assert.deepEqual(fieldNamedIn("AValidationError.HTTP2ProtocolOptions: no"), ["http2_protocol_options"]);
  assert.deepEqual(fieldNamedIn("AValidationError.Metadata[some.key]: no"), ["metadata", { key: "some.key" }]);
  assert.equal(fieldNamedIn("duplicate cluster 'a' found"), undefined);
});
