import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import { nestedTypes, usedTypes } from "@bufbuild/protobuf/reflect";
import { file_kv } from "../../gen/kv_pb.js";
import { file_rpc } from "../../gen/rpc_pb.js";

const methods = file_rpc.services.flatMap((service) => service.methods);

describe("the table of etcd's API", () => {
  it("has no methods but those that the client calls", () => {
    const text = readFileSync(new URL("../../src/client/etcd-client.ts", import.meta.url), "utf8");
    const called = Array.from(text.matchAll(/\b(\w+)\.method\.(\w+)\b/g), ([, service, name]) => `${service}/${name}`);
    assert.deepEqual(
      methods.map(({ parent, localName }) => `${parent.name}/${localName}`).sort(),
      [...new Set(called)].sort(),
    );
  });

  it("has no types but those that the methods reach", () => {
    const reached = new Set<DescMessage | DescEnum>();
    const reach = (type: DescMessage | DescEnum): void => {
      if (reached.has(type)) return;
      reached.add(type);
      if (type.kind === "message") for (const used of usedTypes(type)) reach(used);
    };
    for (const { input, output } of methods) for (const type of [input, output]) reach(type);
    const types = [file_kv, file_rpc].flatMap((file) => [...nestedTypes(file)]);
    assert.deepEqual(
      types.filter(({ kind }) => kind !== "service").map(({ typeName }) => typeName),
      types.filter((type) => reached.has(type as DescMessage)).map(({ typeName }) => typeName),
    );
  });
});
