import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { describe } from "../errors/errors.js";
import { readResources } from "./resource-file.js";

const cluster = (value: string) => `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: café
metadata:
  filter_metadata:
    a:
      b: ${value}
`;
const text = cluster("1");
const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16();

suite("files of unusual encodings", () => {
  const expected = readResources({ path: "a.yaml", bytes: Buffer.from(text) });
  for (const [what, bytes] of [
    ["UTF-16 with a mark", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16 without a mark", Buffer.from(text, "utf16le")],
    ["UTF-16 of the other byte order", bigEndian(`\ufeff${text}`)],
    ["UTF-16 of the other byte order, without a mark", bigEndian(text)],
    ["lines that end with CR", Buffer.from(text.replaceAll("\n", "\r"))],
    ["lines that end with CR LF", Buffer.from(text.replaceAll("\n", "\r\n"))],
  ] as const) {
    test(`YAML with ${what} is read as any other`, () => {
      assert.deepEqual(readResources({ path: "a.yaml", bytes }), expected);
    });
  }

  test("a mistake in lines that end with CR has its line", () => {
    const bytes = Buffer.from(text.replace("café", "a\nnam: b").replaceAll("\n", "\r"));
    assert.deepEqual(
      readResources({ path: "a.yaml", bytes }).findings.map(({ line, field }) => [line, field]),
      [[3, "nam"]],
    );
  });

  test("a secret that was left out is found in UTF-16, too", () => {
    const secret = `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: a
generic_secret: { secret: { inline_string: "[redacted]" } }
`;
    const { findings } = readResources({ path: "a.yaml", bytes: Buffer.from(secret, "utf16le") });
    assert.deepEqual(
      findings.map(({ code }) => code),
      ["XDSKIT_SECRET_LEFT_OUT"],
    );
  });

  for (const [what, path, bytes] of [
    ["JSON in UTF-16", "a.json", Buffer.from('\ufeff{"a": 1}', "utf16le")],
    ["JSON in UTF-16 without a mark", "a.json", Buffer.from('{"a": 1}', "utf16le")],
    ["YAML in UTF-32", "a.yaml", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ] as const) {
    test(`${what} is refused, and the error says what it is`, () => {
      const { findings } = readResources({ path, bytes });
      assert.match(findings.map(describe).join("\n"), /^a\.\w+:1:1: the file is UTF-(16|32) .*save it as UTF-8/);
    });
  }
});

suite("tags of YAML 1.1 in a struct", () => {
  for (const [written, expected] of [
    ["!!omap [a: 1, b: 2]", [{ a: 1 }, { b: 2 }]],
    ["!!pairs [a: 1, a: 2]", [{ a: 1 }, { a: 2 }]],
    ["!!set {a, b}", { a: null, b: null }],
    ["!!timestamp 2001-01-01", "2001-01-01"],
    ["!!binary YQ==", "YQ=="],
    ["!!seq [1]", [1]],
    ["!!map {a: 1}", { a: 1 }],
    ["!!omap {a: 1}", { a: 1 }],
    ["!!str 1", "1"],
  ] as const) {
    test(`${written} keeps its content`, () => {
      const { resources, findings } = readResources({ path: "a.yaml", bytes: Buffer.from(cluster(written)) });
      assert.deepEqual(findings, []);
      const body = resources[0]?.resource.body ?? new Uint8Array();
      assert.deepEqual(fromBinary(ClusterSchema, body).metadata?.filterMetadata.a, { b: expected });
    });
  }
});

suite("a finding names the resource as it is served", () => {
  for (const name of ["n", "yes", "on", "1.10", "5000000000"]) {
    test(`whose name is ${name} without quotes`, () => {
      const bytes = Buffer.from(
        `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: -1s\n`,
      );
      const { findings } = readResources({ path: "a.yaml", bytes });
      assert.deepEqual(
        findings.map(({ resource }) => resource),
        [name],
      );
    });
  }
});
