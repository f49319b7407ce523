import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createClientStream } from "@xdskit/protocol";
import { manualClock } from "../../testing/manual-clock.js";
import { clusterUrl, oddCluster } from "../../testing/odd/odd-responses.js";
import type { UpstreamSink } from "../contract/upstream.js";
import { PolledStream } from "./polled-stream.js";

const type = resourceTypes.find("cluster") ?? assert.fail();

function response(typeUrl: string): Uint8Array {
  const resources = [anyPack(ClusterSchema, oddCluster("a", "1"))];
  return toBinary(
    DiscoveryResponseSchema,
    create(DiscoveryResponseSchema, { typeUrl, versionInfo: "1", nonce: "n", resources }),
  );
}

/** A stream of clusters, of which `*` is wanted. `told` has what its sink was told. */
function polled() {
  const told: string[] = [];
  const sink: UpstreamSink = {
    attempting: () => void told.push("attempting"),
    connected: () => void told.push("connected"),
    disconnected: (_, error) => void told.push(error === undefined ? "disconnected" : `disconnected: ${error.message}`),
    failed: () => void told.push("failed"),
    responded: (_, good) => void told.push(`responded ${good}`),
    update: ({ upserted }) => void told.push(`update ${upserted.length}`),
    acknowledge: undefined,
    rejected: () => void told.push("rejected"),
  };
  const node = new Uint8Array();
  const own = { types: resourceTypes, only: type, node, nodeOn: "every", check: undefined } as const;
  const machine = createClientStream({ variant: "sotw", api: "v3", ...own });
  const stream = new PolledStream({ type, machine, context: { clock: manualClock() }, sink });
  stream.step({ kind: "subscribe", type, names: ["*"] });
  /** Its requests are sent. */
  const ask = () => {
    while (machine.next() !== undefined);
  };
  return { told, stream, ask };
}

type Polled = ReturnType<typeof polled>;

const good = async ({ stream, ask }: Polled): Promise<void> => {
  ask();
  assert.equal(await stream.take(response(clusterUrl), "digest", false), undefined);
};
const broken = async ({ stream }: Polled): Promise<void> => {
  assert.ok(await stream.take(new Uint8Array([0xff]), "digest", false));
};

const reach: Readonly<Record<string, (polled: Polled) => void | Promise<void>>> = {
  shut: () => {},
  open: ({ stream }) => stream.open(),
  async answered(polled) {
    polled.stream.open();
    await good(polled);
  },
  async broken(polled) {
    polled.stream.open();
    await good(polled);
    await broken(polled);
  },
};

const events: Readonly<Record<string, (polled: Polled) => void | Promise<void>>> = {
  open: ({ stream }) => stream.open(),
  unchanged: ({ stream }) => stream.responded(0),
  body: good,
  "same body": ({ stream }) => void stream.isUnchanged("digest"),
  "broken body": broken,
  "shut because of x": ({ stream }) => stream.shut("x"),
  "nothing is wanted": ({ stream }) => stream.shut(undefined),
};

/** By state and event, what the sink is told. */
const table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  shut: {
    open: ["attempting"],
    "shut because of x": [],
    "nothing is wanted": [],
  },
  open: {
    open: [],
    unchanged: ["connected", "responded 0"],
    body: ["connected", "responded 1", "update 1"],
    "same body": [],
    "broken body": ["connected", "responded 0"],
    "shut because of x": [],
    "nothing is wanted": [],
  },
  answered: {
    open: [],
    unchanged: ["responded 0"],
    body: ["responded 1"],
    "same body": ["responded 1"],
    "broken body": ["responded 0"],
    "shut because of x": ["disconnected: x"],
    "nothing is wanted": ["disconnected"],
  },
  broken: {
    open: ["attempting"],
    "shut because of x": ["disconnected: x"],
    "nothing is wanted": ["disconnected"],
  },
};

describe("a polled stream", () => {
  for (const [state, row] of Object.entries(table))
    for (const [event, expected] of Object.entries(row))
      it(`that is ${state}, ${event}: ${expected.join(", ") || "nothing"}`, async () => {
        const one = polled();
        await reach[state]?.(one);
        one.told.length = 0;
        await events[event]?.(one);
        assert.deepEqual(one.told, expected);
        one.stream.close();
      });

  it("tells nothing once the client is closed", async () => {
    const one = polled();
    await reach.answered?.(one);
    one.told.length = 0;
    one.stream.close();
    one.stream.shut("x");
    assert.deepEqual(one.told, []);
  });
});
