import assert from "node:assert/strict";
import { describe, errorCodes, readResourceRequest, resourceTypes } from "@xdskit/api";
import fc from "fast-check";
import { anyText } from "../../../packages/api/src/testing/any-text.js";
import { damaged } from "../kit/edits.js";
import { effortOf } from "../kit/effort.js";
import type { FuzzTarget } from "../kit/target.js";

/** The body of a change that the API gets. */
interface Body {
  readonly form: "json" | "yaml" | "binary";
  readonly isOne: boolean;
  readonly bytes: Uint8Array;
}

const keys = { resources: "upsert", named: "delete", fields: ["message", "dryRun"] };
const cluster = '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}';
const samples = [
  `{"upsert":[${cluster}],"delete":[{"type":"cds","name":"b"}],"message":"m","dryRun":true}`,
  `upsert:\n- ${cluster}\ndelete:\n- type: eds\n  name: b\n`,
  cluster,
  "\x12\x33\x0a\x31type.googleapis.com/envoy.config.cluster.v3.Cluster",
].map((text) => new TextEncoder().encode(text));
const pieces = [
  "[],",
  "{},",
  '"k":1,',
  "- &a x\n",
  "*a,",
  "---\n",
  "#\n",
  '"',
  "'",
  "\n",
  "\r",
  "\0",
  "null",
  '"upsert":',
];

const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom("cds", "", "m", 1, true, null),
    anyText({ maxLength: 4 }),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom("upsert", "delete", "message", "dryRun", "type", "name", "@type", "__proto__", "x"),
      tie("tree"),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
}));
const bytes = fc.oneof(
  damaged(samples, pieces),
  tree.map((value) => new TextEncoder().encode(JSON.stringify(value))),
);
const body: fc.Arbitrary<Body> = fc.record({
  form: fc.constantFrom("json", "yaml", "binary"),
  isOne: fc.boolean(),
  bytes,
});

/** Processor time: far more than reading takes, and far less than work that grows with the square of a body. */
const boundMs = (bytes: Uint8Array) => 1_500 + bytes.length / 20;

export const bodies: FuzzTarget = {
  name: "bodies",
  suiteRuns: 200,
  async open() {
    const property = fc.asyncProperty(body, async ({ form, isOne, bytes }) => {
      let read: Awaited<ReturnType<typeof readResourceRequest>> | undefined;
      const how = { form, keys: isOne || form === "binary" ? undefined : keys, name: "body" };
      const ms = await effortOf(async () => {
        read = await readResourceRequest(bytes, how);
      });
      assert.ok(ms < boundMs(bytes), `${ms} ms`);
      assert.ok(read !== undefined && read.findings.length <= 100);
      for (const finding of read.findings) {
        const told = describe(finding);
        assert.ok(finding.code in errorCodes && finding.file === "body" && told.length < 10_000, told.slice(0, 300));
        if (form !== "binary") assert.ok((finding.line ?? 0) >= 1 && (finding.column ?? 0) >= 1, told);
      }
      for (const key of Object.keys(read.fields))
        assert.ok(keys.fields.includes(key) && read.places[key] !== undefined);
      for (const { type, name } of read.named)
        assert.ok(resourceTypes.byTypeUrl(type.typeUrl)?.type === type && name !== "");
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: async () => {},
      show: (input) => {
        const { form, isOne, bytes } = input as Body;
        return `${form}${isOne ? ", one resource" : ""}: ${JSON.stringify(Buffer.from(bytes).toString("latin1").slice(0, 20_000))}`;
      },
    };
  },
};
