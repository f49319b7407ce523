import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GroupSettings } from "../groups.js";
import { type Judgement, type JudgingClient, judgingClient } from "../testing/judging-client.js";
import { manualClock } from "../testing/manual-clock.js";
import { type Running, withMemoryServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor } from "../testing/wait-for.js";
import type { MemoryTransport } from "../transports/memory/memory-transport.js";
import type { RolloutSettings } from "./rollout-settings.js";
import type { Rollout } from "./rollout-status.js";
import { positionOf } from "./share.js";

/** Node ids in the order in which steps by percent and count take them. */
const ids = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"].sort((a, b) => positionOf(a) - positionOf(b));
const [canary = "", second = ""] = ids;

const fussy = (contents: ReadonlyMap<string, string>): Judgement =>
  [...contents.values()].some((content) => content.startsWith("bad")) ? "reject" : "accept";

interface Fleet extends Omit<Running, "client"> {
  readonly clock: ReturnType<typeof manualClock>;
  readonly clients: readonly JudgingClient[];
  client(id: string): JudgingClient;
  /** Who uses a content of cluster `a`. */
  using(content: string): readonly string[];
  /** Waits until these and no others do. */
  use(content: string, ids: readonly string[]): Promise<void>;
  rollout(): Rollout;
  reaches(state: Rollout["state"], step: number): Promise<void>;
  connect(id: string, cluster?: string): JudgingClient;
}

/** Eight nodes that have cluster `a` with content `1`, and settings for the changes to come. */
async function withFleet(
  variant: "sotw" | "delta",
  rollout: RolloutSettings | "off",
  test: (fleet: Fleet) => Promise<void>,
  more: Partial<GroupSettings> = {},
): Promise<void> {
  const clock = manualClock();
  const groups = [{ name: "edge", match: {}, layers: ["default"], rollout, ...more }];
  await withMemoryServer({ groups, clock }, async (running) => {
    const { server, transport, address } = running;
    server.config.set([cluster("a", "1"), cluster("other", "1")]);
    const clients: JudgingClient[] = [];
    const connect = (id: string, of = "") => {
      const client = judgingClient(transport as MemoryTransport, address, { id, cluster: of, variant, judge: fussy });
      clients.push(client);
      return client;
    };
    for (const id of ids) connect(id, id === canary ? "canary" : "");
    const using = (content: string) => clients.filter(({ held }) => held.get("a") === content).map(({ id }) => id);
    const use = async (content: string, wanted: readonly string[]) => {
      const isSo = () =>
        using(content).join() ===
        clients
          .filter(({ id }) => wanted.includes(id))
          .map(({ id }) => id)
          .join();
      await waitFor(`${content} at ${wanted.join(" ")} alone`, isSo);
    };
    const current = () => {
      const [found] = server.rollouts();
      assert.ok(found);
      return found;
    };
    await use("1", ids);
    await test({
      ...running,
      ...{ clock, clients, using, use, connect, rollout: current },
      client: (id) => clients.find((each) => each.id === id)!,
      reaches: (state, step) =>
        waitFor(`${state} at step ${step}`, () => {
          const found = server.rollouts()[0];
          return found?.state === state && found.step === step;
        }),
    });
  });
}

for (const variant of ["sotw", "delta"] as const) {
  describe(`progressive rollout, ${variant}`, () => {
    const steps = [{ count: 1 }, { percent: 50 }] as const;
    const half = ids.filter((id) => positionOf(id) < 0.5 || id === canary);

    it("goes on by steps, each after acknowledgement and soak time, then to all", async () => {
      await withFleet(variant, { steps, soakMs: 1_000 }, async ({ server, clock, use, reaches, events }) => {
        server.config.update({ upsert: [cluster("a", "2")] });
        await reaches("soaking", 1);
        await use("2", [canary]);
        clock.advance(999);
        await reaches("soaking", 1);
        clock.advance(1);
        await reaches("soaking", 2);
        await use("2", half);
        clock.advance(1_000);
        await reaches("completed", 2);
        await use("2", ids);
        assert.deepEqual(
          events.flatMap((event) => (event.kind === "rollout" ? [event.outcome] : [])),
          ["started", "soaking", "advanced", "soaking", "completed"],
        );
      });
    });

    it("halts at a rejection; nodes that come belong by the same rule; a mended change begins anew", async () => {
      await withFleet(
        variant,
        { steps, soakMs: 1_000 },
        async ({ server, clock, use, reaches, rollout, client, connect, using }) => {
          server.config.update({ upsert: [cluster("a", "bad")] });
          await reaches("halted", 1);
          assert.equal(rollout().reason, `node "${canary}" rejected it: no good`);
          assert.deepEqual(
            rollout().rejections.map(({ node, type }) => ({ node, type })),
            [{ node: canary, type: "cluster" }],
          );
          clock.advance(1_000_000);
          await use("1", ids);
          const late = connect("late");
          await waitFor("what was before", () => late.held.get("a") === "1");
          client(second).connect();
          await waitFor("what was before again", () => client(second).held.get("a") === "1");
          assert.equal(rollout().state, "halted");
          server.config.update({ upsert: [cluster("a", "2")] });
          await reaches("soaking", 1);
          await waitFor("the mended change at the first step", () => using("2").length === 1);
          await use("2", [canary]);
        },
      );
    });
  });
}
