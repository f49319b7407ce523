import assert from "node:assert/strict";
import { it, suite } from "node:test";
import { fromJson, type Message } from "@bufbuild/protobuf";
import { stringify } from "yaml";
import { describe } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { readableJson } from "../writing/readable-json.js";
import { leavesSecretOut } from "./left-out-secrets.js";

const tls = "envoy.extensions.transport_sockets.tls.v3";
const secret = `type.googleapis.com/${tls}.Secret`;
const key = "-----BEGIN PRIVATE KEY-----\nS3CR3T\n-----END PRIVATE KEY-----\n";

function read(path: string, text: string, validate?: boolean): readonly string[] {
  const { resources, findings } = readResources({ path, bytes: Buffer.from(text) }, { validate });
  return [...resources.map(({ resource }) => resource.name), ...findings.map(describe)];
}

function messageOf(typeName: string, json: object): Message {
  const registry = envoyRegistry();
  return fromJson(registry.getMessage(typeName) ?? assert.fail(typeName), json as never, { registry });
}

suite("a resource that was written without its secrets", () => {
  const message = messageOf(`${tls}.Secret`, {
    name: "one",
    tlsCertificate: {
      certificateChain: { filename: "/a.pem" },
      privateKey: { inlineString: key },
      password: { inlineBytes: "UzNDUjNU" },
    },
  });

  it("a resource without its secrets is refused in each form of file, with the line of each field", () => {
    const json = readableJson(message, { fieldNames: "proto" });
    const refused = (line: number, field: string) =>
      new RegExp(
        `:${line}:\\d+: .*"one", tls_certificate.${field}: is "\\[redacted\\]".*\\[XDSKIT_SECRET_LEFT_OUT\\]$`,
      );
    for (const [path, text, lines] of [
      ["a.yaml", stringify(json), [7, 9]],
      ["a.json", JSON.stringify(json, undefined, 1), [9, 12]],
    ] as const) {
      const [first, second, ...more] = read(path, text);
      assert.match(first ?? "", refused(lines[0], "private_key.inline_string"));
      assert.match(second ?? "", refused(lines[1], "password.inline_bytes"));
      assert.deepEqual(more, []);
    }
    const quoted = `resources { [${secret}] { name: "one" generic_secret { secret { inline_string: "[redacted]" } } } }`;
    assert.match(read("a.textproto", quoted).join(), /generic_secret\.secret\.inline_string.*XDSKIT_SECRET_LEFT_OUT/);
    assert.deepEqual(read("a.yaml", stringify(json), false), ["one"]);
  });

  it("a resource with a left-out secret is found, and no other resource is", () => {
    const counted = (message: Message, secrets: boolean) => {
      let count = 0;
      readableJson(message, { secrets, leftOut: () => count++ });
      return count;
    };
    assert.equal(counted(message, false), 1);
    assert.equal(counted(message, true), 0);
    assert.equal(counted(messageOf("envoy.config.cluster.v3.Cluster", { name: "web" }), false), 0);
  });

  it("a resource is refused for a left-out password in a URL, and for a left-out secret in a struct or in JSON", () => {
    const cluster = (metadata: object) =>
      read(
        "a.json",
        JSON.stringify({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "web", metadata }),
      );
    const struct = (value: unknown) => cluster({ filter_metadata: { mine: { value } } }).join();
    assert.match(struct("https://me:[redacted]@a.com"), /metadata\.filter_metadata\["mine"\]\["value"\]/);
    assert.match(struct({ deep: ["[redacted]"] }), /\["mine"\]\["value"\]\["deep"\]\[0\]/);
    assert.match(struct('{"token":"[redacted]"}'), /XDSKIT_SECRET_LEFT_OUT/);
    assert.equal(struct("a text that says [redacted] is what it shows"), "web");
  });
});

suite("JSON that was written without its secrets", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  it("is found by a secret inside a longer text, and by bytes that end or begin anywhere", () => {
    const lacking = ["[redacted]", "http://u:[redacted]@h", '{"token":"[redacted]"}', "-----END-----\n[redacted]\n"];
    for (const text of lacking) {
      for (const value of [text, ...["\n", "a\n", "ab\n"].map((before) => base64(before + text))])
        assert.ok(leavesSecretOut({ list: [1, null, { deep: value }] }), value);
    }
    for (const text of ["", "[redacted] is only a word", base64("a [redacted] word"), "W3JlZGFjdGVkX is no base64"])
      assert.ok(!leavesSecretOut({ text }), text);
  });

  it("is refused by a reader wherever in the bytes the secret was", () => {
    for (const before of ["\n", "a\n", "ab\n"]) {
      const secret = { "@type": `type.googleapis.com/${tls}.Secret`, name: "one" };
      const genericSecret = { secret: { inlineBytes: base64(`${before}[redacted]\n`) } };
      const text = JSON.stringify({ ...secret, genericSecret });
      assert.match(read("a.json", text).join(), /generic_secret.secret.inline_bytes.*XDSKIT_SECRET_LEFT_OUT/, before);
    }
  });
});
