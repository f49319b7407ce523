import assert from "node:assert/strict";
import { test } from "node:test";
import { envoyRegistry } from "../registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { CompiledResources } from "./compiled-resources.js";
import { isDoubt } from "./doubt.js";
import { JsonBytes } from "./json-bytes.js";
import { membersOf, writersOf } from "./message-writer.js";
import { createShapes } from "./shape.js";

const registry = envoyRegistry();
const assignment = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const loads = {
  "@type": `type.googleapis.com/${assignment}`,
  cluster_name: "one",
  endpoints: [
    { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "10.0.0.1", port_value: 80 } } } }] },
  ],
  policy: { overprovisioning_factor: 100 },
};

test("a text is read with more space than the one before it, and with less", () => {
  const dense = JSON.stringify(loads);
  const behindColons = dense.replaceAll('":', '": ');
  const inLines = JSON.stringify(loads, undefined, 2);
  const compiled = new CompiledResources({ registry, types: resourceTypes, views: false });
  for (const text of [dense, behindColons, inLines, behindColons.replaceAll(": ", ":\r\n\t "), dense, inLines]) {
    const src = new JsonBytes(Buffer.from(text));
    assert.equal(compiled.readText(src)?.name, "one", text);
    assert.equal(src.at, text.length);
    assert.equal(src.lines, text.split("\n").length - 1);
  }
});

test("of a key that comes again and again no more is remembered than there are fields", () => {
  const schema = registry.getMessage(assignment) ?? assert.fail();
  const { root, after } = createShapes(membersOf(schema, registry, writersOf(registry).of), true);
  let shape = root;
  const addAll = () => {
    for (let count = 0; count < 1000; count += 1) shape = after(shape, "cluster_name");
  };
  assert.throws(addAll, isDoubt);
  assert.ok(shape.length <= schema.fields.length + 1);
});
