import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { readResourceRequest } from "./resource-request.js";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const keys = { resources: "upsert", named: "delete", fields: ["message"] };

function read(form: "json" | "yaml", text: string) {
  return readResourceRequest(Buffer.from(text), { form, keys, name: "body" });
}

const places = ({ findings }: Awaited<ReturnType<typeof read>>) =>
  findings.map(({ code, file, line, field }) => `${file}:${line}: ${field}: ${code}`);

describe("a request with resources", () => {
  it("a request gives its resources and its other fields", async () => {
    const yaml = `message: m\nupsert:\n  - "@type": ${clusterUrl}\n    name: a\n  - "@type": ${clusterUrl}\n    name: b\n`;
    const json = JSON.stringify({
      upsert: ["a", "b"].map((name) => ({ "@type": clusterUrl, name })),
      message: "m",
    });
    for (const request of [await read("yaml", yaml), await read("json", json)]) {
      assert.deepEqual(
        request.resources.map(({ resource }) => resource.name),
        ["a", "b"],
      );
      assert.deepEqual([request.fields, request.findings], [{ message: "m" }, []]);
    }
  });

  it("a request with problems says where each of them is", async () => {
    const yaml = `upsert:\n  - "@type": ${clusterUrl}\n    name: a\n    connect_timeout: -1s\n  - name: b\n`;
    assert.deepEqual(places(await read("yaml", yaml)), [
      "body:4: connect_timeout: XDSKIT_RULE_BROKEN",
      "body:5: undefined: XDSKIT_TYPE_MISSING",
    ]);
    const json = `{\n"upsert": [\n{"@type": "${clusterUrl}", "name": "a", "no": 1}\n]}`;
    assert.deepEqual(places(await read("json", json)), ["body:3: no: XDSKIT_FIELD_UNKNOWN"]);
    const others =
      '{\n"delete": [\n7, {"type": "cds"},\n{"type": "cds", "name": "a", "no": 1}, {"type": "cdss", "name": "a"}],\n"mesage": 1, "message": []}';
    assert.deepEqual(places(await read("json", others)), [
      "body:5: mesage: XDSKIT_API_REQUEST",
      "body:5: message: XDSKIT_API_REQUEST",
      "body:3: delete[0]: XDSKIT_API_REQUEST",
      "body:3: delete[1].name: XDSKIT_API_REQUEST",
      "body:4: delete[2].no: XDSKIT_API_REQUEST",
      "body:4: delete[3].type: XDSKIT_TYPE_NAME_UNKNOWN",
    ]);
  });

  it("a request never makes its reader throw, whatever its text is", async () => {
    for (const [text, code] of [
      ["", "XDSKIT_SYNTAX"],
      ["[]", "XDSKIT_API_REQUEST"],
      ['{"upsert": 1}', "XDSKIT_API_REQUEST"],
      ["{", "XDSKIT_SYNTAX"],
      ["\uffff{}", "XDSKIT_SYNTAX"],
      [`${"[".repeat(100_000)}`, "XDSKIT_SYNTAX"],
    ] as const)
      assert.equal((await read("json", text)).findings[0]?.code, code, text.slice(0, 20));
    assert.equal((await read("yaml", "a: 1\n---\nb: 1\n")).findings[0]?.code, "XDSKIT_SYNTAX");
  });

  it("a request may be one resource alone", async () => {
    const bytes = Buffer.from(JSON.stringify({ "@type": clusterUrl, name: "a" }));
    const { resources, findings } = await readResourceRequest(bytes, { form: "json", name: "body" });
    assert.deepEqual([resources[0]?.resource.name, findings], ["a", []]);
  });

  it("reading many resources leaves turns to others", async () => {
    const upsert = Array.from({ length: 20_000 }, (_, i) => ({ "@type": clusterUrl, name: `c${i}` }));
    let [turns, isDone] = [0, false];
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { resources } = await read("json", JSON.stringify({ upsert }));
    isDone = true;
    assert.equal(resources.length, upsert.length);
    assert.ok(turns >= 2, `${turns} turns`);
  });

  it("reading a serialized response leaves turns to others, too, and reports the problems in it", async () => {
    const response = (...bodies: readonly Uint8Array[]) => {
      const writer = new BinaryWriter();
      for (const body of bodies) {
        writer.tag(2, WireType.LengthDelimited).fork();
        writer.tag(1, WireType.LengthDelimited).string(clusterUrl);
        writer.tag(2, WireType.LengthDelimited).bytes(body).join();
      }
      return writer.finish();
    };
    const named = (name: string) => new BinaryWriter().tag(1, WireType.LengthDelimited).string(name).finish();
    const names = Array.from({ length: 20_000 }, (_, index) => `c${index}`);
    let [turns, isDone] = [0, false];
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { resources } = await readResourceRequest(response(...names.map(named)), { form: "binary", name: "body" });
    isDone = true;
    assert.deepEqual(
      resources.map(({ resource }) => resource.name),
      names,
    );
    assert.ok(turns >= 2, `${turns} turns`);
    for (const [bytes, code] of [
      [response(named("a"), Buffer.from([0xff])), "XDSKIT_SYNTAX"],
      [Buffer.from("no protobuf"), "XDSKIT_SYNTAX"],
    ] as const) {
      const { findings } = await readResourceRequest(bytes, { form: "binary", name: "body" });
      assert.deepEqual(
        findings.map((finding) => [finding.file, finding.code]),
        [["body", code]],
      );
    }
  });
});
