import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { v2Registry } from "./v2-registry.js";

// A part of v2's protos, from which no registry can be made (their imports are missing), came with those of v3.
const require = createRequire(import.meta.url);
const protoDir = join(
  dirname(require.resolve("@grpc/grpc-js-xds/package.json")),
  "deps",
  "envoy-api",
  "envoy",
  "config",
  "filter",
);

interface Field {
  readonly message: string;
  readonly name: string;
  readonly number: number;
}

const token =
  /\bmessage\s+(?<message>\w+)\s*\{|\b(?:map<[^>]+>|[\w.]+)\s+(?<field>\w+)\s*=\s*(?<number>\d+)\s*[;[]|(?<open>\{)|\}/g;

/** The fields of all messages of a proto file, as far as a reader without a compiler sees them. */
function fieldsIn(proto: string): readonly Field[] {
  const text = proto.replace(/\/\/.*$/gm, "");
  const packageName = /^package ([\w.]+);/m.exec(text)?.[1] ?? "";
  const fields: Field[] = [];
  /** Of every block that is open: the message's name, or undefined for a oneof, an enum or an option. */
  const blocks: (string | undefined)[] = [];
  for (const { groups = {} } of text.matchAll(token)) {
    if (groups.message !== undefined) blocks.push(groups.message);
    else if (groups.open !== undefined) blocks.push(undefined);
    else if (groups.field === undefined) blocks.pop();
    else {
      const names = blocks.filter((name) => name !== undefined);
      const message = [packageName, ...names].join(".");
      if (names.length > 0) fields.push({ message, name: groups.field, number: Number(groups.number) });
    }
  }
  return fields;
}

test("the derived messages agree with the existing protos of v2", () => {
  const files = readdirSync(protoDir, { recursive: true, encoding: "utf8" }).filter((file) =>
    /[\\/]v2(alpha\d*)?[\\/]\w+\.proto$/.test(file),
  );
  let compared = 0;
  for (const file of files) {
    for (const { message, name, number } of fieldsIn(readFileSync(join(protoDir, file), "utf8"))) {
      // A message or a field that v3 dropped is missing.
      const derived = v2Registry()
        .getMessage(message)
        ?.fields.find((field) => field.name === name);
      if (derived === undefined) continue;
      assert.equal(derived.number, number, `${message}.${name}`);
      compared++;
    }
  }
  assert.ok(compared > 300, `only ${compared} fields in ${files.length} files`);
});
