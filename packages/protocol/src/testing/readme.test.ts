import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { createResource, type Resource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createClientStream } from "../index.js";
import { typeOf } from "./sample-world.js";

/** The exports of the code in README.md, and the transport that it asks for. */
interface Example {
  publish(upsert: readonly Resource[]): void;
  serve(transport: Transport): { received(bytes: Uint8Array): void; writable(): void; closed(): void };
}
interface Transport {
  isWritable: boolean;
  write(...chunks: readonly Uint8Array[]): void;
  end(code: number, message: string): void;
}

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const code = /```js\n(.*?)```/s.exec(readme)?.[1] ?? "";
const cluster = (name: string) => createResource(create(ClusterSchema, { name, connectTimeout: { seconds: 1n } }));

/** The code as a module. It lies in the repository, so that Node finds the packages that it imports. */
async function loadExample(): Promise<Example> {
  const cache = fileURLToPath(new URL("../../../../.cache/", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "readme-"));
  try {
    writeFileSync(join(folder, "example.mjs"), code);
    return (await import(pathToFileURL(join(folder, "example.mjs")).href)) as Example;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A client's end that takes the example's responses, and answers. */
function clientOf({ serve }: Example) {
  const node = toBinary(NodeSchema, create(NodeSchema, { id: "test" }));
  const options = { variant: "delta", api: "v3", types: resourceTypes, only: undefined, nodeOn: "first" } as const;
  const client = createClientStream({ ...options, node, check: undefined });
  const seen: string[] = [];
  const waiting: Uint8Array[] = [];
  const transport: Transport & { ended: string | undefined } = {
    isWritable: true,
    ended: undefined,
    write: (...chunks) => waiting.push(Buffer.concat(chunks)),
    end: (code, message) => {
      transport.ended = `${code} ${message}`;
    },
  };
  const call = serve(transport);
  const talk = (): void => {
    for (let request = client.next(); request !== undefined; request = client.next()) call.received(request.bytes);
    for (const bytes of waiting.splice(0)) {
      for (const effect of client.step({ kind: "response", bytes }, 0)) {
        if (effect.kind === "update") seen.push(...effect.update.upserted.map(({ name }) => name));
      }
      talk();
    }
  };
  client.step({ kind: "subscribe", type: typeOf("cluster"), names: ["*"] }, 0);
  client.step({ kind: "opened" }, 0);
  talk();
  return { call, seen, talk, transport };
}

describe("the loop in README.md", () => {
  it("the loop has at most 60 lines, none longer than 120 characters", () => {
    const lines = code.trimEnd().split("\n");
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    assert.deepEqual(
      lines.filter((line) => line.length > 120),
      [],
    );
  });

  it("the loop serves a client, sends it changes when there is room, and ends streams that break the protocol", async () => {
    const example = await loadExample();
    const { call, seen, talk, transport } = clientOf(example);
    assert.deepEqual(seen, ["web"]);
    transport.isWritable = false;
    example.publish([cluster("api")]);
    example.publish([cluster("db")]);
    talk();
    assert.deepEqual(seen, ["web"]);
    transport.isWritable = true;
    call.writable();
    talk();
    assert.deepEqual(seen.sort(), ["api", "db", "web"]);
    assert.equal(transport.ended, undefined);
    call.received(Uint8Array.of(0xff));
    assert.match(transport.ended ?? "", /^3 /);
    call.closed();
  });
});
