import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Rollout } from "../../contracts/rollouts/rollout-status.js";
import type { GroupSettings } from "../../settings/group-settings.js";
import type { RolloutSettings } from "../../settings/rollout-settings.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { type Judgement, type JudgingClient, judgingClient } from "../../testing/clients/judging-client.js";
import { type Running, withMemoryServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";
import type { MemoryTransport } from "../../transports/memory/memory-transport.js";
import { positionOf } from "./course/share.js";

/** Node ids in the order in which steps by percent and count take them. */
const ids = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"].sort((a, b) => positionOf(a) - positionOf(b));
const [canary = "", second = ""] = ids;

/** Contents say how clients judge them. */
const judgeAs =
  (id: string) =>
  (contents: ReadonlyMap<string, string>): Judgement => {
    const all = [...contents.values()];
    if (all.some((content) => content === "bad" || content === `only not ${id}`)) return "reject";
    return all.includes("silent") || all.includes(`silent ${id}`) ? "silent" : "accept";
  };

interface Fleet extends Omit<Running, "client"> {
  readonly clock: ReturnType<typeof manualClock>;
  readonly clients: readonly JudgingClient[];
  of(id: string): JudgingClient;
  /** The ids of the nodes that use a content of cluster `a`. */
  using(content: string): readonly string[];
  /** Waits until exactly these nodes use the content. */
  use(content: string, ids: readonly string[]): Promise<void>;
  rollout(): Rollout;
  reaches(state: Rollout["state"], step: number): Promise<void>;
  connect(id: string, cluster?: string): JudgingClient;
}

/** Eight nodes that have cluster `a` with content `1`, and settings for later changes. */
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
      const client = judgingClient(transport as MemoryTransport, address, {
        id,
        cluster: of,
        variant,
        judge: judgeAs(id),
      });
      clients.push(client);
      return client;
    };
    for (const id of ids) connect(id, id === canary ? "canary" : "");
    const using = (content: string) =>
      clients.filter(({ current }) => current.get("a") === content).map(({ id }) => id);
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
      clock,
      clients,
      using,
      use,
      connect,
      rollout: current,
      of: (id) => clients.find((each) => each.id === id)!,
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

    it("goes by steps, each after acknowledgement and soak time, then to all", async () => {
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

    it("halts at a rejection, counts new nodes by the same rule, and begins again with a fixed change", async () => {
      await withFleet(
        variant,
        { steps, soakMs: 1_000 },
        async ({ server, clock, use, reaches, rollout, of, connect, using }) => {
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
          await waitFor("what was before", () => late.current.get("a") === "1");
          of(second).connect();
          await waitFor("what was before again", () => of(second).current.get("a") === "1");
          assert.equal(rollout().state, "halted");
          server.config.update({ upsert: [cluster("a", "2")] });
          await reaches("soaking", 1);
          await waitFor("the fixed change at the first step", () => using("2").length === 1);
          await use("2", [canary]);
        },
      );
    });

    it("stays rolled back, whatever else changes, until the resource has another content", async () => {
      await withFleet(variant, { steps, soakMs: 0 }, async ({ server, use, reaches, rollout, clients, connect }) => {
        server.config.update({ upsert: [cluster("a", "bad"), cluster("new", "1")] });
        await reaches("halted", 1);
        assert.equal(rollout().rollBack(), true);
        assert.deepEqual([rollout().state, rollout().rollBack(), rollout().promote()], ["rolled-back", false, false]);
        assert.deepEqual(
          server.quarantines().map(({ name, cause }) => [name, cause]),
          [
            ["a", "rolled-back"],
            ["new", "rolled-back"],
          ],
        );
        server.config.update({ upsert: [cluster("other", "2")] });
        await waitFor("an unrelated change at all", () => clients.every(({ current }) => current.get("other") === "2"));
        await reaches("completed", 2);
        await use("1", ids);
        const late = connect("late");
        await waitFor("what the others have", () => late.current.size === 2 && late.current.get("a") === "1");
        assert.ok(clients.every(({ current }) => !current.has("new")));
        // Twice more: the replacement of the second one is itself rolled back.
        for (const content of ["x", "y"]) {
          server.config.update({ upsert: [cluster("a", content)] }, { rollout: { steps: [{ count: 1 }] } });
          await reaches("soaking", 1);
          await use(content, [canary]);
          assert.equal(rollout().rollBack(), true);
          await use("1", [...ids, "late"]);
        }
        server.config.update({ upsert: [cluster("a", "2")] });
        await use("2", [...ids, "late"]);
        assert.deepEqual(
          server.quarantines().map(({ name }) => name),
          ["new"],
        );
        server.quarantines()[0]?.lift();
        await waitFor("what was lifted", () => clients.every(({ current }) => current.has("new")));
      });
    });

    it("halts where a node does not acknowledge in time, goes on when told to, and to all when promoted", async () => {
      await withFleet(variant, { steps, soakMs: 0, timeoutMs: 1_000 }, async (fleet) => {
        const { server, clock, use, reaches, rollout } = fleet;
        server.config.update({ upsert: [cluster("a", "silent")] });
        await waitFor("a silent node", () => server.node(canary)?.state === "pending");
        clock.advance(999);
        assert.equal(rollout().state, "waiting");
        assert.deepEqual(rollout().waitsFor, [canary]);
        clock.advance(1);
        assert.equal(rollout().state, "halted");
        assert.equal(rollout().reason, `node "${canary}" did not acknowledge it in 1 s`);
        assert.deepEqual(rollout().nodes, { reached: 1, pending: 1, rejected: 0, held: 7 });
        fleet.of(canary).connect();
        assert.equal(rollout().resume(), true);
        clock.advance(1_000);
        assert.equal(rollout().state, "halted");
        server.config.update({ upsert: [cluster("a", "1")] });
        assert.equal(rollout().state, "withdrawn");
        await use(
          "1",
          ids.filter((id) => id !== canary),
        );
        server.config.update({ upsert: [cluster("a", "2")] }, { rollout: { steps: [{ match: { id: "nobody" } }] } });
        await reaches("waiting", 1);
        assert.equal(rollout().promote(), true);
        await use("2", ids);
      });
    });

    it("waits no longer for the last node of a step that is gone", async () => {
      await withFleet(variant, { steps: [{ count: 2 }, { count: 4 }], soakMs: 0 }, async (fleet) => {
        const { server, use, reaches, rollout } = fleet;
        const content = `silent ${second}`;
        server.config.update({ upsert: [cluster("a", content)] });
        await use(content, [canary]);
        await waitFor("one that is waited for", () => rollout().waitsFor.join() === second);
        fleet.of(second).leave();
        await reaches("completed", 2);
      });
    });

    it("goes on in spite of rejections until too many nodes have rejected it", async () => {
      await withFleet(variant, { steps: [{ count: 2 }, { count: 4 }], soakMs: 0, haltAfter: 2 }, async (fleet) => {
        const { server, use, reaches, rollout } = fleet;
        server.config.update({ upsert: [cluster("a", `only not ${canary}`)] });
        await reaches("completed", 2);
        assert.equal(rollout().nodes.rejected, 1);
        await use(`only not ${canary}`, ids.slice(1));
        server.config.update({ upsert: [cluster("a", "bad")] });
        await reaches("halted", 1);
        assert.match(rollout().reason, /^2 nodes rejected it/);
        assert.equal(rollout().resume(), true);
        // Nobody has acknowledged it.
        assert.equal(rollout().state, "waiting");
      });
    });

    it("does not count a node with the last good content as one that acknowledged the change", async () => {
      const settings = { steps: [{ count: 1 }, { percent: 50 }], soakMs: 0, haltAfter: 2, timeoutMs: 1_000 } as const;
      const test = async ({ server, clock, of, use, reaches, rollout }: Fleet) => {
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a quarantine", () => server.quarantines().length > 0);
        of(canary).connect();
        await waitFor("the last good again", () => of(canary).current.get("a") === "1");
        await waitFor("the canary in sync", () => server.node(canary)?.state === "held-back");
        assert.equal(rollout().state, "waiting");
        clock.advance(1_000);
        await reaches("halted", 1);
        assert.equal(rollout().reason, "no node of step 1 acknowledged it in 1 s");
        rollout().resume();
        assert.equal(rollout().state, "waiting");
        await use("1", ids);
        assert.deepEqual(
          server
            .nodes()
            .flatMap(({ id, streams }) => (id === canary ? [] : streams.map(({ types: [type] }) => type?.why))),
          ids.slice(1).map(() => "1 resource held back by the rollout of edge at step 1 of 2"),
        );
        const [why] = server.node(canary)?.streams.map(({ types: [type] }) => type?.why) ?? [];
        assert.equal(why, "1 resource held back by a quarantine");
      };
      await withFleet(variant, settings, test, { onReject: "lastGood" });
    });

    it("begins again with a change on top, which reached nodes get at once", async () => {
      const settings = { steps: [{ match: { cluster: "canary" } }, { percent: 50 }], soakMs: 1_000 };
      await withFleet(variant, settings, async ({ server, clock, use, reaches, clients, of }) => {
        server.config.update({ upsert: [cluster("a", "2")] });
        await reaches("soaking", 1);
        clock.advance(1_000);
        await reaches("soaking", 2);
        await use("2", half);
        const way = server.config.update({ upsert: [cluster("a", "3")], remove: [{ type: "cluster", name: "other" }] });
        await reaches("soaking", 1);
        await use("3", half);
        await use(
          "1",
          ids.filter((id) => !half.includes(id)),
        );
        assert.deepEqual(
          clients.filter(({ current }) => !current.has("other")).map(({ id }) => id),
          clients.filter(({ id }) => half.includes(id)).map(({ id }) => id),
        );
        // The other nodes may not have had their turn yet.
        await waitFor("a change that is held back", () =>
          way.status().waiting.every(({ reason }) => reason === "held-back"),
        );
        assert.notEqual(way.status().waiting.length, 0);
        // A node that was reached remains so when it comes back.
        const again = half.find((id) => id !== canary) ?? canary;
        of(again).connect();
        await waitFor("the newest again", () => of(again).current.get("a") === "3");
        // An urgent change passes by the rollout, together with the resources that it changes.
        server.config.update({ upsert: [cluster("a", "4")] }, { rollout: "off" });
        await use("4", ids);
        assert.equal(server.rollouts()[0]?.changed, 1);
        // The second step adds no node.
        clock.advance(1_000);
        await reaches("completed", 2);
        await waitFor("a removal at all", () => clients.every(({ current }) => !current.has("other")));
        assert.equal((await way.done({ timeout: 1 })).result, "complete");
      });
    });

    // In state of the world the response repeats the rejected content, and a node that does not name it rejects the
    // whole response.
    if (variant === "delta") {
      it("counts a node that still rejects an older change as one that acknowledged this one", async () => {
        await withFleet(variant, "off", async ({ server, use, reaches }) => {
          server.config.update({ upsert: [cluster("other", `only not ${canary}`)] });
          await waitFor("a rejection", () => server.node(canary)?.state === "rejected");
          const rollout = { steps: [{ count: 1 }], soakMs: 0, timeoutMs: 1_000 };
          server.config.update({ upsert: [cluster("a", "2")] }, { rollout });
          await reaches("completed", 1);
          await use("2", ids);
        });
      });
    }

    it("is off by default, goes by a change's own settings, and past a group without nodes", async () => {
      await withFleet(variant, "off", async ({ server, use, reaches, clients, connect, rollout }) => {
        server.config.update({ upsert: [cluster("a", "2")] });
        await use("2", ids);
        assert.deepEqual(server.rollouts(), []);
        assert.throws(() => server.config.update({}, { rollout: { steps: [] } }), /rollout\.steps/);
        server.config.update({ upsert: [cluster("a", "3")] }, { rollout: { steps: [{ count: 3 }] } });
        await reaches("soaking", 1);
        await use("3", ids.slice(0, 3));
        for (const client of clients) client.leave();
        await waitFor("nobody", () => server.nodes().length === 0);
        rollout().promote();
        server.config.update({ upsert: [cluster("a", "4")] }, { rollout: { steps: [{ count: 1 }] } });
        const late = connect("late");
        await waitFor("the newest", () => late.current.get("a") === "4");
      });
    });
  });
}
