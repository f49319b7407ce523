import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { errorCodes } from "./error-codes.js";
import { describe } from "./errors.js";
import { envoyRegistry } from "./registry.js";
import { createResource } from "./resource.js";
import { readResources } from "./resource-file.js";
import { writeResources } from "./write-message.js";

function schemaOf(typeName: string): DescMessage {
  const schema = envoyRegistry().getMessage(typeName);
  assert.ok(schema, typeName);
  return schema;
}

function sample() {
  const manager = create(
    schemaOf("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    {
      statPrefix: "s",
      routeSpecifier: { case: "rds", value: { routeConfigName: "r" } },
    },
  );
  const filter = {
    name: "hcm",
    configType: { case: "typedConfig", value: anyPack(schemaOf(manager.$typeName), manager) },
  };
  const listener = create(schemaOf("envoy.config.listener.v3.Listener"), {
    name: "l",
    filterChains: [{ filters: [filter] }],
  });
  const cluster = create(schemaOf("envoy.config.cluster.v3.Cluster"), {
    name: "c",
    connectTimeout: { seconds: 1n, nanos: 5 },
  });
  return [createResource(listener), createResource(cluster, { aliases: ["d"], ttl: 1500 })];
}

const paths = { json: "a.json", yaml: "a.yaml", text: "a.pb_text", binary: "a.pb" } as const;
const intruders = fc.oneof(
  fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    ",",
    "-",
    "#",
    "&a ",
    "*a",
    "!x ",
    "|",
    "\n",
    "\t",
    "  ",
    "null",
    "-1",
    "1e999",
    "<<: ",
    "\\",
    "@type",
    "\0",
    "é",
  ),
  fc.string({ maxLength: 3 }),
);

for (const [format, path] of Object.entries(paths)) {
  test(`${format}: whatever a file holds, it is read or refused with findings that say where`, () => {
    const written = writeResources(sample(), format as keyof typeof paths, { indent: 1 });
    const whole = typeof written === "string" ? new TextEncoder().encode(written) : written;
    const place = fc.nat(whole.length);
    fc.assert(
      fc.property(fc.array(fc.tuple(place, fc.nat(9), intruders), { minLength: 1, maxLength: 3 }), (edits) => {
        let bytes = Buffer.from(whole);
        for (const [at, drop, add] of edits)
          bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(add), bytes.subarray(at + drop)]);
        const { resources, findings } = readResources({ path, bytes });
        assert.ok(resources.length <= 2 * 9);
        for (const finding of findings) {
          assert.ok(finding.code in errorCodes);
          assert.equal(finding.file, path);
          assert.ok(describe(finding).length > 0);
          if (format === "binary") continue;
          assert.ok((finding.line ?? 0) >= 1 && (finding.column ?? 0) >= 1, describe(finding));
          assert.ok((finding.line ?? 0) <= bytes.toString().split("\n").length);
        }
      }),
      { numRuns: 400 },
    );
  });
}
