import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import fc from "fast-check";
import { XdskitError } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";
import { times } from "../testing/effort.js";
import { writeResources } from "../writing/write-message.js";
import { createResource } from "./resource.js";
import { type Constraints, holdsFor } from "./variant.js";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const cluster = create(ClusterSchema, { name: "c" });

test("constraints match parameters, whatever other parameters there are", () => {
  const holds = (constraints: Constraints, parameters: object) =>
    holdsFor(constraints, new Map(Object.entries(parameters) as [string, string][]));
  assert.deepEqual(
    [{ env: "prod" }, { env: "prod", x: "y" }, { env: "test" }, {}].map((one) => holds(env("prod"), one)),
    [true, true, false, false],
  );
  const none: Constraints = { kind: "not", of: { kind: "exists", key: "env" } };
  assert.deepEqual(
    [{ env: "" }, {}].map((one) => holds(none, one)),
    [false, true],
  );
  assert.ok(holds({ kind: "any", of: [env("a"), none] }, {}));
  assert.ok(!holds({ kind: "all", of: [env("a"), none] }, { env: "a" }));
  assert.deepEqual([holds({ kind: "any", of: [] }, {}), holds({ kind: "all", of: [] }, {})], [false, true]);
});

test("a variant has a key and a version of its own, however its constraints are listed", () => {
  const made = (constraints?: Constraints) => createResource(cluster, { constraints });
  const one = made({ kind: "any", of: [env("a"), env("b")] });
  const same = made({ kind: "any", of: [env("b"), env("a"), env("b")] });
  assert.deepEqual([one.key, one.version], [same.key, same.version]);
  assert.deepEqual([one.name, one.key.startsWith("c")], ["c", true]);
  assert.equal(new Set([one, made(env("a")), made()].map(({ key }) => key)).size, 3);
  assert.equal(new Set([one, made(env("a")), made()].map(({ version }) => version)).size, 3);
});

const constraints: fc.Arbitrary<Constraints> = fc.letrec<{ any: Constraints }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.record({ kind: fc.constant("value" as const), key: fc.string(), value: fc.string() }, { noNullPrototype: true }),
    fc.record({ kind: fc.constant("exists" as const), key: fc.string() }, { noNullPrototype: true }),
    fc.record(
      { kind: fc.constantFrom("any" as const, "all" as const), of: fc.array(tie("any"), { maxLength: 3 }) },
      { noNullPrototype: true },
    ),
    fc.record({ kind: fc.constant("not" as const), of: tie("any") }, { noNullPrototype: true }),
  ),
})).any;

test("a variant that is written to a file is read again as the same variant, in every form", () => {
  fc.assert(
    fc.property(constraints, (one) => {
      const resource = createResource(cluster, { constraints: one, aliases: ["d"] });
      for (const [path, form] of [
        ["a.json", "json"],
        ["a.yaml", "yaml"],
        ["a.pb", "binary"],
        ["a.pb_text", "text"],
      ] as const) {
        const written = writeResources([resource], form);
        const bytes = typeof written === "string" ? new TextEncoder().encode(written) : written;
        const { resources, findings } = readResources({ path, bytes });
        assert.deepEqual(findings, []);
        const [read] = resources;
        assert.deepEqual([read?.resource.key, read?.resource.version], [resource.key, resource.version], form);
      }
    }),
    { numRuns: times(20) },
  );
});

test("empty constraints and too many constraints are refused", () => {
  const read = (fields: string) => {
    const wrapper = `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource\n${fields}\nresource: { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c }\n`;
    const { resources, findings } = readResources({ path: "a.yaml", bytes: new TextEncoder().encode(wrapper) });
    return [resources.length, ...findings.map(({ code, line, message }) => `${line} ${code} ${message}`)];
  };
  const name = (constraints: string) => `resource_name: { name: c, dynamic_parameter_constraints: ${constraints} }`;
  assert.deepEqual(read(name("{ constraint: { key: env, value: prod } }")), [1]);
  assert.match(read(name("{}")).join(), /^0,3 XDSKIT_CONSTRAINTS dynamic_parameter_constraints hold nothing/);
  assert.match(read(name("{ constraint: { key: env } }")).join(), /"env" says neither a value nor exists/);
  assert.match(read(`name: d\n${name("{ constraint: { key: env, exists: {} } }")}`).join(), /only one of name and/);
  let deep: Constraints = env("a");
  for (let depth = 0; depth < 20; depth++) deep = { kind: "not", of: deep };
  const many: Constraints = { kind: "any", of: Array.from({ length: 1000 }, (_, index) => env(`${index}`)) };
  for (const one of [deep, many]) {
    assert.throws(
      () => createResource(cluster, { constraints: one }),
      (error) => error instanceof XdskitError && error.code === "XDSKIT_CONSTRAINTS",
    );
  }
});
