import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createRegistry, readResources, resourceTypes } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import { clusters, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";
import { waitFor } from "../../testing/basics/wait-for.js";

function yaml(count: number, seconds = 1): string {
  return clusters(
    Array.from({ length: count }, (_, index) => `cluster-${index}`),
    seconds,
  );
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}

/** Descriptors of `example.Thing`, which has a field `size`. */
const ownSet = toBinary(
  FileDescriptorSetSchema,
  create(FileDescriptorSetSchema, {
    file: [
      create(FileDescriptorProtoSchema, {
        name: "example/thing.proto",
        package: "example",
        syntax: "proto3",
        messageType: [
          {
            name: "Thing",
            field: [
              {
                name: "size",
                number: 1,
                label: FieldDescriptorProto_Label.OPTIONAL,
                type: FieldDescriptorProto_Type.UINT32,
              },
            ],
          },
        ],
      }),
    ],
  }),
);

describe("The thread that reads long files", () => {
  const files: readonly (readonly [string, string])[] = [
    ["of many resources", yaml(1_200)],
    ["with errors", `${yaml(3)}${clusters(["bad"], -1)}- nothing\n`],
    ["that is no YAML", `${yaml(3)}\n  x: [`],
    ["that is empty", ""],
    ["that is a bootstrap", "admin: {}\nstatic_resources: { clusters: [{ name: a, connect_timeout: 1s }] }\n"],
  ];
  it("the thread reads each long file as the main thread does", async () => {
    const thread = new ReadingThread();
    try {
      for (const [what, text] of files) {
        const read = await thread.file("a.yaml", bytesOf(text));
        assert.deepEqual(read, readResources({ path: "a.yaml", bytes: bytesOf(text) }), `a file ${what}`);
        for (const { resource } of read.resources) assert.equal(resource.type, resourceTypes.find("cluster"));
      }
    } finally {
      thread.close();
    }
  });

  it("the thread knows the messages of a program's own descriptor set", async () => {
    const registry = createRegistry({ descriptorSets: [ownSet] });
    const thread = new ReadingThread({ registry });
    try {
      const thing = '{ "@type": type.googleapis.com/example.Thing, size: 3 }';
      const text = `${yaml(1)}  metadata: { typed_filter_metadata: { own: ${thing} } }\n`;
      const expected = readResources({ path: "a.yaml", bytes: bytesOf(text) }, { registry });
      assert.deepEqual(expected.findings, []);
      assert.deepEqual(await thread.file("a.yaml", bytesOf(text)), expected);
    } finally {
      thread.close();
    }
  });

  it("the thread leaves out the checks of Envoy if the main thread would", async () => {
    const check = "{ timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1, tcp_health_check: {} }";
    // Envoy refuses several checks without names.
    const text = `${clusters(["a"])}  health_checks: [${check}, ${check}]\n`;
    assert.equal(readResources({ path: "a.yaml", bytes: bytesOf(text) }).resources.length, 0);
    const thread = new ReadingThread({ envoy: false });
    try {
      const { resources, findings } = await thread.file("a.yaml", bytesOf(text));
      assert.deepEqual([resources.length, findings], [1, []]);
    } finally {
      thread.close();
    }
  });

  it("the thread fails running readings when it is closed, and takes nothing after that", async () => {
    const thread = new ReadingThread();
    const reading = thread.file("a.yaml", bytesOf(yaml(2_000)));
    const next = thread.file("b.yaml", bytesOf(yaml(1)));
    const failures = Promise.allSettled([reading, next]);
    setTimeout(() => thread.close(), 1);
    assert.deepEqual(
      (await failures).map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(thread.takes("a.yaml", 1 << 30), false);
  });

  it("a file whose thread ended is parsed again once it is touched, without other bytes", async (t) => {
    const { path, at, write } = await temporaryFolder(t);
    await write("a.yaml", yaml(1));
    const { sink } = await startedSource(t, { directory: path, settleMs: 1 });
    const died = () => Promise.reject(new Error("out of memory"));
    t.mock.method(ReadingThread.prototype, "file", died, { times: 1 });
    await write("a.yaml", yaml(2_000));
    await sink.until("reported", () => sink.errors.length === 1);
    assert.match(sink.errors[0] ?? "", /a\.yaml: cannot be read: out of memory \[XDSKIT_FILE_UNREADABLE\]/);
    await utimes(at("a.yaml"), 1, 1);
    await sink.untilApplied(2);
    assert.deepEqual([sink.resources().length, sink.errors], [2_000, []]);
  });

  it("the thread leaves the main thread free while a long file is read", async (t) => {
    const { path, write } = await temporaryFolder(t);
    await write("a.yaml", yaml(5_000));
    const { summaries } = await startedSource(t, { directory: path, settleMs: 1 });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    t.after(() => clearInterval(counting));
    await write("a.yaml", yaml(5_000, 2));
    await waitFor("the change to be read", () => summaries.length > 1);
    assert.ok(turns >= 20, `${turns} turns while 600 kB of YAML were read`);
  });
});
