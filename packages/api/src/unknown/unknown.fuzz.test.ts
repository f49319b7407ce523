import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fromBinary, type Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { readResources } from "../files/resource-file.js";
import { readJsonResponse } from "../json/json-response.js";
import type { Resource } from "../resources/resource.js";
import { times } from "../testing/effort.js";
import { resourcesWithUnknown, schemaOf } from "../testing/unknown-fields.js";
import { readableJson } from "../writing/readable-json.js";
import { createResourceJson } from "../writing/resource-json.js";
import { type MessageFormat, writeResources } from "../writing/write-message.js";

const formats = { json: "json", yaml: "yaml", text: "pb_text", binary: "pb" } as const;

/** The resource that a file holds, as it is read. */
function readBack(written: string | Uint8Array, form: MessageFormat): readonly Resource[] {
  const bytes = typeof written === "string" ? Buffer.from(written) : written;
  const { resources, findings } = readResources({ path: `a.${formats[form]}`, bytes }, { validate: false });
  assert.deepEqual(findings, [], `${form}: ${typeof written === "string" ? written : ""}`);
  return resources.map(({ resource }) => resource);
}

function bytesOf(resource: Resource | undefined): string {
  return Buffer.from(resource?.body ?? []).toString("hex");
}

suite("a resource with unknown fields at any depth", () => {
  test("a resource with unknown fields is the same to the byte after a round trip through every form of a file", () => {
    fc.assert(
      fc.property(resourcesWithUnknown, (resource) => {
        for (const format of Object.keys(formats) as MessageFormat[]) {
          const kept: string[] = [];
          const written = writeResources([resource], format, {
            kept: (all) => kept.push(...all.map(({ what }) => what)),
          });
          const [back] = readBack(written, format);
          assert.equal(bytesOf(back), bytesOf(resource), format);
          assert.equal(back?.version, resource.version, format);
        }
      }),
      { numRuns: times(40) },
    );
  });

  test("a resource with unknown fields is the same to the byte after a round trip through a REST answer, if JSON can express it", () => {
    const runs = times(40);
    let said = 0;
    fc.assert(
      fc.property(resourcesWithUnknown, (resource) => {
        let text: string;
        try {
          text = Buffer.from(createResourceJson()(resource, "v3")).toString();
        } catch {
          return;
        }
        said += 1;
        const body = Buffer.from(`{"versionInfo":"1","resources":[${text}]}`);
        const read = readJsonResponse(body, { type: resource.type });
        assert.ok(read.kind === "response", JSON.stringify(read));
        assert.deepEqual(read.unread, []);
        const response = fromBinary(schemaOf("envoy.service.discovery.v3.DiscoveryResponse"), read.bytes);
        const [any] = (response as Message & { resources: Any[] }).resources;
        assert.equal(Buffer.from(any?.value ?? []).toString("hex"), bytesOf(resource));
      }),
      { numRuns: runs },
    );
    assert.ok(said >= 0.8 * runs - 2, `${said}`);
  });

  test("a resource with unknown fields is shown complete with its secrets, and without them it shows no unknown content", () => {
    fc.assert(
      fc.property(resourcesWithUnknown, (resource) => {
        const schema = schemaOf(resource.type.typeUrl.slice(resource.type.typeUrl.lastIndexOf("/") + 1));
        const message = fromBinary(schema, resource.body);
        const whole = JSON.stringify(readableJson(message, { secrets: true }));
        assert.equal(bytesOf(readBack(whole, "json")[0]), bytesOf(resource));
        let text = "";
        try {
          text = JSON.stringify(readableJson(message));
        } catch {
          // Nothing is shown then.
        }
        assert.ok(!/"@(unknown|value)":"(?!\[redacted\]|1"|CAE=)/.test(text), text);
      }),
      { numRuns: times(40) },
    );
  });
});
