import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readResourceRequest } from "./resource-request.js";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

function read(form: "json" | "yaml", text: string) {
  return readResourceRequest(Buffer.from(text), { form, list: "upsert", name: "body" });
}

const places = ({ findings }: ReturnType<typeof read>) =>
  findings.map(({ code, file, line, field }) => `${file}:${line}: ${field}: ${code}`);

describe("a request with resources", () => {
  it("gives its resources, and what else it says", () => {
    const yaml = `message: m\nupsert:\n  - "@type": ${clusterUrl}\n    name: a\n  - "@type": ${clusterUrl}\n    name: b\n`;
    const json = JSON.stringify({
      upsert: ["a", "b"].map((name) => ({ "@type": clusterUrl, name })),
      message: "m",
    });
    for (const request of [read("yaml", yaml), read("json", json)]) {
      assert.deepEqual(
        request.resources.map(({ resource }) => resource.name),
        ["a", "b"],
      );
      assert.deepEqual([request.fields, request.findings], [{ message: "m" }, []]);
    }
  });

  it("says where each problem is", () => {
    const yaml = `upsert:\n  - "@type": ${clusterUrl}\n    name: a\n    connect_timeout: -1s\n  - name: b\n`;
    assert.deepEqual(places(read("yaml", yaml)), [
      "body:4: connect_timeout: XDSKIT_RULE_BROKEN",
      "body:5: undefined: XDSKIT_TYPE_MISSING",
    ]);
    const json = `{\n"upsert": [\n{"@type": "${clusterUrl}", "name": "a", "no": 1}\n]}`;
    assert.deepEqual(places(read("json", json)), ["body:3: no: XDSKIT_FIELD_UNKNOWN"]);
    const { code, line, field } = read("json", '{\n"delete": [\n7]}').finding("XDSKIT_API_REQUEST", "", ["delete", 0]);
    assert.deepEqual([code, line, field], ["XDSKIT_API_REQUEST", 3, "delete[0]"]);
  });

  it("never throws, whatever the text is", () => {
    for (const [text, code] of [
      ["", "XDSKIT_SYNTAX"],
      ["[]", "XDSKIT_API_REQUEST"],
      ['{"upsert": 1}', "XDSKIT_API_REQUEST"],
      ["{", "XDSKIT_SYNTAX"],
      ["\uffff{}", "XDSKIT_SYNTAX"],
      [`${"[".repeat(100_000)}`, "XDSKIT_SYNTAX"],
    ] as const)
      assert.equal(read("json", text).findings[0]?.code, code, text.slice(0, 20));
    assert.equal(read("yaml", "a: 1\n---\nb: 1\n").findings[0]?.code, "XDSKIT_SYNTAX");
  });

  it("may be one resource alone", () => {
    const bytes = Buffer.from(JSON.stringify({ "@type": clusterUrl, name: "a" }));
    const { resources, findings } = readResourceRequest(bytes, { form: "json", list: undefined, name: "body" });
    assert.deepEqual([resources[0]?.resource.name, findings], ["a", []]);
  });
});
