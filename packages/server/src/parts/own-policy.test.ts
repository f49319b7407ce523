import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Snapshot } from "@xdskit/protocol";
import {
  createMemoryTransport,
  createServer,
  defaultParts,
  type GroupPolicy,
  type MemberClient,
  type Part,
  type PolicyGroup,
  type ServerOptions,
  type TargetPolicy,
} from "../index.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { memoryClient } from "../testing/clients/raw-client.js";
import { delta } from "../testing/clients/xds-client.js";
import { ads, urlOf } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";

/** A policy as a program may write it: one node keeps what it has, until it is let go. */
class HeldNode implements TargetPolicy {
  readonly #id: string;
  readonly #clients = new Set<MemberClient>();
  #isHeld = false;
  #forget = () => {};

  constructor(id: string) {
    this.#id = id;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#forget();
    for (const client of this.#clients) client.targetChanged();
  }

  open({ newest }: PolicyGroup): GroupPolicy {
    /** What the node had when it was held; undefined: nothing has changed since. */
    let kept: Snapshot | undefined;
    this.#forget = () => {
      kept = undefined;
    };
    const isHeld = () => this.#isHeld;
    return {
      get isPlain() {
        return !isHeld();
      },
      newestChanged(before) {
        if (isHeld()) kept ??= before;
      },
      join: ({ id }, _kind, client) => {
        if (id !== this.#id) return { snapshot: (target) => target };
        this.#clients.add(client);
        return {
          snapshot: (target) => (isHeld() ? (kept ?? newest() ?? target) : target),
          why: () => (kept === undefined ? undefined : "it is in maintenance"),
          leave: () => void this.#clients.delete(client),
        };
      },
    };
  }
}

/** A server with that policy and all parts, and two nodes. */
async function served(t: TestContext, parts: ServerOptions["parts"], groups?: ServerOptions["groups"]) {
  const server = createServer({ parts, groups });
  const transport = createMemoryTransport();
  const client = memoryClient(transport, await server.listenOn(transport, "here"));
  t.after(async () => {
    client.close();
    await server.close({ timeoutMs: 500 });
  });
  const has = (id: string) =>
    server.nodeConfig(id)?.resources.flatMap(({ name, acknowledged }) => (acknowledged ? name : []));
  const connect = (id: string) => {
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id }, typeUrl: urlOf("cluster") });
    void (async () => {
      for (;;) {
        const { nonce } = await stream.next();
        stream.send({ typeUrl: urlOf("cluster"), responseNonce: nonce });
      }
    })().catch(() => {});
  };
  const both = async (n1: readonly string[], n2: readonly string[]) => {
    await waitFor(`n1 to have ${n1}, and n2 ${n2}`, () => {
      return String(has("n1")) === String(n1) && String(has("n2")) === String(n2);
    });
  };
  server.config.set([cluster("a")]);
  connect("n1");
  connect("n2");
  await both(["a"], ["a"]);
  return { server, both };
}

it("a policy of one's own holds a node back, beside the parts of the server", async (t) => {
  const policy = new HeldNode("n1");
  const { server, both } = await served(t, [...defaultParts, () => ({ policy })]);
  policy.hold();
  server.config.update({ upsert: [cluster("b")] });
  await both(["a"], ["a", "b"]);
  server.config.update({ upsert: [cluster("c")] });
  await both(["a"], ["a", "b", "c"]);
  const [held, free] = ["n1", "n2"].map((id) => server.node(id)?.streams[0]?.types[0]);
  assert.equal(held?.heldBack?.resources, 2);
  assert.equal(held?.why, "2 resources held back, since it is in maintenance");
  assert.equal(free?.heldBack, undefined);

  policy.release();
  await both(["a", "b", "c"], ["a", "b", "c"]);
  server.config.update({ remove: [{ type: "cluster", name: "b" }] });
  await both(["a", "c"], ["a", "c"]);
});

for (const [where, partsWith] of [
  ["behind", (own: Part) => [...defaultParts, own]],
  ["before", (own: Part) => [own, ...defaultParts]],
] as const)
  it(`a rollout waits for a node that a policy ${where} it holds back`, async (t) => {
    const policy = new HeldNode("n1");
    const groups = [
      { name: "edge", match: {}, layers: ["default"], rollout: { steps: [{ match: { id: "n1" } }], soakMs: 0 } },
    ];
    const { server, both } = await served(
      t,
      partsWith(() => ({ policy })),
      groups,
    );
    policy.hold();
    server.config.update({ upsert: [cluster("b")] });
    await delay(300);
    const states = () => server.rollouts().map(({ state, step }) => `${state} at ${step}`);
    assert.deepEqual(states(), ["waiting at 1"]);
    await both(["a"], ["a"]);
    policy.release();
    await both(["a", "b"], ["a", "b"]);
    await waitFor("the rollout to end", () => states()[0]?.startsWith("completed") === true);
  });
