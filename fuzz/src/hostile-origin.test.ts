import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DeltaDiscoveryResponseSchema, ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createClientStream } from "@xdskit/protocol";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const type = resourceTypes.find("cluster")!;

/** A resource of a response; numbers tell one round from the others. */
interface Entry {
  readonly name: string;
  readonly version?: string;
  readonly aliases?: readonly string[];
  readonly ttlSeconds?: number;
  /** Breaks a rule. */
  readonly isBad?: boolean;
}

interface Round {
  readonly entries?: readonly Entry[];
  readonly removed?: readonly string[];
  readonly nonce?: string;
}

const long = (round: number, length = 20_000) => `${round} ${"x".repeat(length)}`;
const some = <Item>(make: (index: number) => Item, length = 200): readonly Item[] =>
  Array.from({ length }, (_, index) => make(index));

/** Responses that an origin may send for ever, with something new each time. */
const shapes: Readonly<Record<string, (round: number) => Round>> = {
  "new resources": (round) => ({ entries: some((i) => ({ name: `${round}-${i}` }), 600) }),
  "new resources with long names": (round) => ({ entries: some((i) => ({ name: `${i} ${long(round)}` })) }),
  "new resources with aliases": (round) => ({
    entries: some((i) => ({ name: `${round}-${i}`, aliases: some((alias) => `${round}-${i}-${alias}`) })),
  }),
  "new resources that are not good": (round) => ({
    entries: some((i) => ({ name: `${i} ${long(round)}`, isBad: true })),
  }),
  "new resources with a time to live": (round) => ({
    entries: some((i) => ({ name: `${round}-${i}`, ttlSeconds: 1 }), 600),
  }),
  "new versions, and long ones": (round) => ({
    entries: some((i) => ({ name: `same-${i}`, version: long(round) })),
  }),
  "removals of what was never there": (round) => ({ removed: some((i) => `${i} ${long(round)}`) }),
  "long nonces": (round) => ({ nonce: long(round, 1_000_000) }),
};

function responseOf({ entries = [], removed = [], nonce = "n" }: Round): Uint8Array {
  const resources = entries.map(({ name, version = "1", aliases = [], ttlSeconds, isBad = false }) =>
    create(ResourceSchema, {
      name,
      version,
      aliases: [...aliases],
      ...(ttlSeconds === undefined ? {} : { ttl: { seconds: BigInt(ttlSeconds), nanos: 0 } }),
      resource: anyPack(ClusterSchema, create(ClusterSchema, { name: isBad ? "" : name.slice(0, 20) })),
    }),
  );
  const fields = { nonce, typeUrl: type.typeUrl, resources, removedResources: [...removed] };
  return toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, fields));
}

/** Held resources may take this much, as the client counts it. */
const retainedBytes = 8 * 1024 * 1024;
/** Buffers are released a moment after their holders. */
const megabytes = async () => {
  for (let times = 0; times < 3; times += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1024 / 1024;
};

describe("the memory of a client whose origin sends more and more", () => {
  for (const [what, make] of Object.entries(shapes)) {
    it(`the memory of the client is bounded, and the old resources stay: ${what}`, async () => {
      const stream = createClientStream({
        variant: "delta",
        api: "v3",
        types: resourceTypes,
        only: undefined,
        node: new Uint8Array(),
        nodeOn: "first",
        check: (_, name, message) =>
          (message as { readonly name?: string }).name === ""
            ? [{ code: "XDSKIT_UPDATE_REJECTED", severity: "error", message: "it is bad", resource: name }]
            : [],
        limits: { retainedBytes },
      });
      let now = 0;
      stream.step({ kind: "subscribe", type, names: ["*"] }, now);
      stream.step({ kind: "opened" }, now);
      while (stream.next() !== undefined);
      const before = await megabytes();
      const send = (round: Round) => {
        now += 10;
        stream.step({ kind: "response", bytes: responseOf(round) }, now);
        while (stream.next() !== undefined);
      };
      send({ entries: [{ name: "good" }] });
      // Without limits the kept resources grow by 100 MB or more.
      for (let round = 0; round < 60; round += 1) send(make(round));
      const grown = (await megabytes()) - before;
      assert.ok(grown < 40, `${Math.round(grown)} MB`);
      assert.ok(stream.status()[0]?.resources.has("good"));
    });
  }
});
