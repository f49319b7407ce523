import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary, type Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { readResources } from "../files/resource-file.js";
import { readJsonResponse } from "../json/json-response.js";
import type { Resource } from "../resources/resource.js";
import { corpus } from "../testing/corpus/index.js";
import { effort } from "../testing/effort.js";
import { schemaOf, withUnknownEverywhere } from "../testing/unknown-fields.js";
import { createResourceJson } from "../writing/resource-json.js";
import { type MessageFormat, writeResources } from "../writing/write-message.js";

const extensions = { json: "json", yaml: "yaml", text: "pb_text", binary: "pb" } as const;
/** The test takes one in this many resources of the corpus; `EACH=1` takes all of them. */
const each = Number(process.env.EACH ?? Math.round(40 / Math.min(effort, 1)));

function readOne(format: MessageFormat, written: string | Uint8Array): Resource {
  const bytes = typeof written === "string" ? Buffer.from(written) : written;
  const { resources, findings } = readResources({ path: `a.${extensions[format]}`, bytes }, { validate: false });
  assert.deepEqual(findings, []);
  return resources[0]?.resource ?? assert.fail("no resource");
}

function throughRest(resource: Resource): Uint8Array | undefined {
  let text: string;
  try {
    text = Buffer.from(createResourceJson()(resource, "v3")).toString();
  } catch {
    // JSON has no form for something in it, such as an unknown field of a duration that is no content of an `Any`.
    return undefined;
  }
  const read = readJsonResponse(Buffer.from(`{"versionInfo":"1","resources":[${text}]}`), { type: resource.type });
  assert.ok(read.kind === "response");
  assert.deepEqual(read.unread, []);
  const response = fromBinary(schemaOf("envoy.service.discovery.v3.DiscoveryResponse"), read.bytes);
  return (response as Message & { resources: Any[] }).resources[0]?.value;
}

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

describe("the resources of the corpus, with an unknown field in every message", () => {
  const cases = corpus().filter((_, index) => index % each === 0);

  it("the resources are the same to the byte after a round trip through every form of a file and through a REST answer", (t) => {
    let compared = 0;
    let inRest = 0;
    for (const { name, resource: json, breaks } of cases) {
      const { resources } = readResources(
        { path: "a.json", bytes: Buffer.from(JSON.stringify(json)) },
        { validate: false },
      );
      const [read] = resources;
      if (read === undefined) {
        // JSON that breaks a rule may be no message at all.
        assert.notEqual(breaks, undefined, name);
        continue;
      }
      const resource = withUnknownEverywhere(read.resource);
      for (const format of Object.keys(extensions) as MessageFormat[]) {
        const back = readOne(format, writeResources([resource], format, { kept: () => undefined }));
        assert.equal(hex(back.body), hex(resource.body), `${name}, ${format}`);
        assert.equal(back.version, resource.version, `${name}, ${format}`);
      }
      const rest = throughRest(resource);
      if (rest !== undefined) assert.equal(hex(rest), hex(resource.body), `${name}, REST`);
      compared += 1;
      if (rest !== undefined) inRest += 1;
    }
    t.diagnostic(`${compared} of ${cases.length}, ${inRest} of them over REST`);
    assert.ok(compared > (cases.length * 9) / 10, `${compared} of ${cases.length}`);
    assert.ok(inRest > 0, `${inRest} of ${compared} over REST`);
  });
});
