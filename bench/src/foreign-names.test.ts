import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { create, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { createRegistry, createResource, type ResourceType } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { XdsServer } from "@xdskit/server";
import type { ManualClock } from "../../packages/server/src/testing/basics/manual-clock.js";
import type { Doors } from "../../packages/server/src/testing/identity/doors.js";
import { createOperationCounter, type OperationCounter, type Operations } from "./operation-count.js";

// Whoever asks for a name of another tenant learns nothing: the answer, the wait for it and the work are those for a
// name that nobody has. They are counted, since a time would say little on a busy machine.

const named = {
  cluster: (name: string) => create(ClusterSchema, { name }),
  endpoint: (clusterName: string) => create(ClusterLoadAssignmentSchema, { clusterName }),
  listener: (name: string) => create(ListenerSchema, { name }),
  route: (name: string) => create(RouteConfigurationSchema, { name }),
  secret: (name: string) => create(SecretSchema, { name }),
};
const types = Object.keys(named) as (keyof typeof named)[];
const doorNames = ["SotW", "delta", "Fetch", "REST"] as const;
type Door = (typeof doorNames)[number];

type Owner = "bank" | "none" | "shop";

/** Of equal length: only what is done with them may differ. */
const nameOf = (owner: Owner, index: number) => `${owner}-${String(index).padStart(4, "0")}`;
const indices = Array.from({ length: 500 }, (_, index) => index);
let asked = 0;

/** One that nobody has asked for: what was made for a question serves the next one. */
function nextOf(owner: Owner): string {
  asked += 1;
  assert.ok(asked < indices.length);
  return nameOf(owner, asked);
}

/** A lookup more is a step or two, as what follows a collection of garbage is; an answer more is hundreds. */
const maxMore = 0.03;

/** Those of the server, without what this test does to hear it. */
const stepsOf = ({ where }: Operations): number =>
  where.reduce((sum, { name, steps }) => sum + (/manual-clock|doors|node_modules\//.test(name) ? 0 : steps), 0);

interface Heard {
  /** By the server's clock, in milliseconds after the question. */
  readonly at: number;
  readonly what: unknown;
}

describe("a name of another tenant", () => {
  let counter: OperationCounter;
  let served: typeof import("../../packages/server/src/create-server.js");
  let testing: typeof import("../../packages/server/src/testing/identity/doors.js");
  let clocks: typeof import("../../packages/server/src/testing/basics/manual-clock.js");

  // Before the counted code is loaded.
  before(async () => {
    counter = await createOperationCounter();
    served = await import("../../packages/server/src/create-server.js");
    testing = await import("../../packages/server/src/testing/identity/doors.js");
    clocks = await import("../../packages/server/src/testing/basics/manual-clock.js");
  });
  after(() => counter.close());

  interface Scene {
    readonly server: XdsServer;
    readonly clock: ManualClock;
    readonly doors: Doors;
    readonly supplied: string[];
  }

  /** Two tenants; the callers of the shop may have no secrets. */
  async function scene(isOnDemand = false): Promise<Scene> {
    const clock = clocks.manualClock();
    const supplied: string[] = [];
    const server = served.createServer({
      clock,
      eventLoop: false,
      registry: createRegistry(),
      tokenName: (token) => token,
      identities: [{ when: { token: "shop" }, node: { id: "shop-1" }, groups: ["shop"] }],
      groups: ["bank", "shop"].map((name) => ({ name, match: {}, layers: [name] })),
      onDemand: isOnDemand
        ? {
            types: ["cluster"],
            async supply({ name, group }) {
              supplied.push(`${group} ${name}`);
              return undefined;
            },
          }
        : undefined,
    });
    for (const owner of ["bank", "shop"] as const)
      server.config
        .layer(owner)
        .set(types.flatMap((type) => indices.map((index) => createResource(named[type](nameOf(owner, index))))));
    return { server, clock, supplied, doors: await testing.doorsOf(server) };
  }

  /** All that a caller hears within half a minute who asks for one name. */
  async function heard({ server, clock, doors }: Scene, door: Door, word: string, name: string): Promise<Heard[]> {
    const type = server.types.find(word) as ResourceType;
    const found: Heard[] = [];
    const begin = clock.now();
    const hear = (what: unknown) => {
      const text = JSON.stringify(what).replaceAll(name, "NAME");
      found.push({ at: clock.now() - begin, what: text });
    };
    const node = { id: "shop-1" };
    let close = (): void => {};
    let look = (): void => {};
    if (door === "REST") {
      void testing.pollOf(doors.polls, "shop", type, { node, resource_names: [name] }).then((answer) => {
        hear(answer.kind === "response" ? JSON.parse(Buffer.from(answer.body.bytes).toString()) : answer);
      });
    } else {
      const isDelta = door === "delta";
      const method = {
        variant: isDelta ? "delta" : "sotw",
        api: "v3",
        only: undefined,
        unary: door === "Fetch",
      } as const;
      const called = testing.callOf((call) => doors.accept({ ...call, method }), "shop", method.unary);
      let seen = 0;
      look = () => {
        for (; seen < called.sent.length; seen += 1) {
          const bytes = called.sent[seen] as Uint8Array;
          const schema = isDelta ? DeltaDiscoveryResponseSchema : DiscoveryResponseSchema;
          const response: MessageShape<typeof schema> = fromBinary(schema, bytes);
          hear(Buffer.from(toBinary(schema, { ...response, nonce: "" })).toString("latin1"));
        }
        if (called.ended !== undefined && close !== none) {
          hear(called.ended);
          close = none;
        }
      };
      const { typeUrl } = type;
      called.send(
        isDelta
          ? toBinary(
              DeltaDiscoveryRequestSchema,
              create(DeltaDiscoveryRequestSchema, { node, typeUrl, resourceNamesSubscribe: [name] }),
            )
          : toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl, resourceNames: [name] })),
      );
      close = () => called.close();
    }
    for (let second = 0; second < 30; second += 1) {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      look();
      clock.advance(1_000);
    }
    close();
    return found;
  }
  const none = (): void => {};

  for (const type of types)
    for (const door of doorNames)
      it(`is to a caller over ${door} as one that nobody has, ${type}`, async (t) => {
        const one = await scene();
        t.after(() => one.server.close());
        const asks = (name: string) => heard(one, door, type, name);
        const missing = await asks(nextOf("none"));
        // A secret of its own is as foreign to a caller that may have none.
        const others = type === "secret" ? (["bank", "shop"] as const) : (["bank"] as const);
        for (const owner of others) assert.deepEqual(await asks(nextOf(owner)), missing);
        const work = async (owner: Owner) =>
          stepsOf(await counter.count(async () => void (await asks(nextOf(owner))), 6));
        const ofMissing = await work("none");
        for (const owner of others) {
          const more = Math.abs((await work(owner)) / ofMissing - 1);
          assert.ok(more < maxMore, `the work on a name of ${owner}: ${more}`);
        }
        if (type === "secret") return;
        assert.notDeepEqual(await asks(nextOf("shop")), missing, "nothing is heard of what it may have either");
        assert.ok((await work("shop")) / ofMissing - 1 > maxMore, "the count does not tell an answer from none");
      });

  it("is asked of the supplier as one that nobody has, for the caller's own group", async (t) => {
    const one = await scene(true);
    t.after(() => one.server.close());
    for (const door of ["SotW", "delta"] as const) {
      one.supplied.length = 0;
      const [none, bank] = [nextOf("none"), nextOf("bank")];
      const missing = await heard(one, door, "cluster", none);
      assert.deepEqual(await heard(one, door, "cluster", bank), missing);
      // It is asked again as time goes by.
      const calls = (name: string) => one.supplied.filter((each) => each === `shop ${name}`).length;
      assert.ok(calls(none) > 0);
      assert.equal(calls(bank), calls(none));
      assert.equal(one.supplied.length, 2 * calls(none), one.supplied.join());
    }
  });
});
