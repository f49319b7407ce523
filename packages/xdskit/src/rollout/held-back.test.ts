import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createClient } from "@xdskit/client";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";

const settings = `groups:
  - name: edge
    match: { id: "edge-*" }
    folders: [edge]
    rollout: { steps: [{ match: { id: edge-1 } }, { percent: 50 }] }
`;

/** Three nodes; the first one has a change, and its rollout is halted. */
async function halted(test: (server: Served) => Promise<void>): Promise<void> {
  await using server = await served({
    "edge/a.yaml": clusterYaml("a"),
    "edge/b.yaml": clusterYaml("b"),
    "xdskit.yaml": settings,
  });
  const clients = ["edge-1", "edge-2", "edge-3"].map((id) => createClient({ servers: [server.grpc], node: { id } }));
  try {
    for (const client of clients) client.watch("cluster", "*", { onChanged: () => {} });
    await states(server, { synced: 3 });
    await server.folder.write("edge/a.yaml", clusterYaml("a", "2s"));
    await states(server, { synced: 1, "held-back": 2 });
    assert.equal((await server.run("rollout", "halt")).status, 0);
    await eventually(
      () => fleetNode(server, "edge-2"),
      ({ why }) => why.endsWith("halted"),
    );
    await test(server);
  } finally {
    for (const client of clients) await client.close();
  }
}

/** Waits until so many nodes are in each state. */
const states = (server: Served, wanted: Readonly<Record<string, number>>) =>
  eventually(
    () => server.ask("/api/v1/fleet/summary") as Promise<{ states: Record<string, number> }>,
    ({ states }) => Object.entries(states).every(([state, count]) => count === (wanted[state] ?? 0)),
  );

async function fleetNode(server: Served, id: string) {
  const { nodes } = (await server.ask("/api/v1/fleet/nodes")) as {
    nodes: { id: string; state: string; why: string }[];
  };
  return nodes.find((node) => node.id === id) ?? { id, state: "", why: "" };
}

const words = "1 resource held back by the rollout of edge at step 1 of 2, halted";

describe("a node that a rollout holds back", { concurrency: true }, () => {
  it("is held back for everybody who asks: the API, `top`, `status` in both forms, the metrics and its page", () =>
    halted(async (server) => {
      const ids = async (path: string) => {
        const { nodes } = (await server.ask(path)) as { nodes: { id: string }[] };
        return nodes.map(({ id }) => id);
      };
      for (const path of ["/api/v1/nodes?state=held-back", "/api/v1/fleet/nodes?state=held-back"])
        assert.deepEqual(await ids(path), ["edge-2", "edge-3"], path);
      assert.deepEqual(await ids("/api/v1/fleet/nodes?state=synced"), ["edge-1"]);
      assert.deepEqual(await fleetNode(server, "edge-2").then(({ state, why }) => [state, why]), [
        "held-back",
        `cluster: ${words}`,
      ]);
      const { columns } = (await server.ask("/api/v1/fleet/map")) as { columns: { worst: string[] }[] };
      assert.deepEqual(
        columns.map(({ worst }) => worst),
        [["synced"], ["held-back"], ["held-back"]],
      );
      const metrics = await (await fetch(`${server.admin}/metrics`)).text();
      assert.match(metrics, /^xdskit_nodes_by_state\{state="held-back"\} 2$/m);
      // Two axes: what they are to run, and how that was delivered.
      const { revisions } = (await server.ask("/api/v1/fleet/summary")) as { revisions: object };
      const delivered = { "held-back": 0, pending: 0, stale: 0, rejected: 0 };
      assert.deepEqual(revisions, { newest: { ...delivered, synced: 1 }, before: { ...delivered, synced: 2 } });
      assert.match(metrics, /^xdskit_nodes_by_state\{state="synced"\} 1$/m);
      // The last half hour: from the start of the server, and not from this first question on.
      const { samples, changes } = (await server.ask("/api/v1/activity")) as {
        samples: { pushes: number; heldBack: number }[];
        changes: { layer: string; number: number }[];
      };
      const sent = samples.reduce((sum, { pushes }) => sum + pushes, 0);
      assert.deepEqual([sent, Math.max(...samples.map(({ heldBack }) => heldBack))], [4, 2]);
      assert.deepEqual(
        changes.map(({ layer, number }) => `${layer} ${number}`),
        ["edge 1", "edge 2"],
      );

      const top = await server.run("top", "--count", "1");
      assert.match(top.out, /^3 nodes: 0 rejected, 0 stale, 0 pending, 2 held-back, 1 synced/);
      assert.match(top.out, new RegExp(`^edge-2 +held-back .* cluster: ${words}$`, "m"));
      const overHttp = await server.run("status");
      assert.match(overHttp.out, new RegExp(`^edge-2 +held-back .* cluster: ${words}$`, "m"));
      const overGrpc = await inProcessEnds("status", "--server", server.grpc);
      assert.match(overGrpc.out, new RegExp(`^edge-2 +held-back .* cluster: ${words}$`, "m"));
      assert.match(overGrpc.out, /^3 nodes: .*2 held-back/m);

      const { resources } = (await server.ask("/api/v1/nodes/edge-2/resources")) as {
        resources: { name: string; state: string }[];
      };
      assert.deepEqual(
        resources.map(({ name, state }) => [name, state]),
        [
          ["a", "held-back"],
          ["b", "synced"],
        ],
      );
      const contents = (await server.ask("/api/v1/nodes/edge-2/resources/cluster/a")) as Record<
        "wanted" | "running" | "newest",
        { connect_timeout: string }
      >;
      const { wanted, running, newest } = contents;
      assert.deepEqual(
        [wanted, running, newest].map((one) => one.connect_timeout),
        ["1s", "1s", "2s"],
      );
    }));

  it("is no pending node of a revision in the history", () =>
    halted(async (server) => {
      const { revisions } = (await server.ask("/api/v1/revisions")) as { revisions: { id: string }[] };
      const arrival = (await server.ask(`/api/v1/revisions/${revisions[0]?.id}/arrival`)) as {
        counts: object;
        nodes: { id: string; state: string; message: string }[];
      };
      assert.deepEqual(arrival.counts, { acknowledged: 1, rejected: 0, pending: 0, "held-back": 2 });
      assert.deepEqual(
        arrival.nodes.map(({ id, state, message }) => [id, state, message]),
        ["edge-2", "edge-3"].map((id) => [id, "held-back", `cluster: ${words}`]),
      );
    }));

  it("is told of by a dry run: what its group is served, the steps that the change takes, and what becomes of the rollout", () =>
    halted(async (server) => {
      const dryRun = async (timeout: string) => {
        const file = await server.file("a.yaml", clusterYaml("a", timeout));
        return (await server.run("apply", "-f", file, "--dry-run")).out;
      };
      const anew = await dryRun("5s");
      assert.match(anew, /^# cluster "a" for edge: changed\n(.*\n)*- connect_timeout: 2s\n\+ connect_timeout: 5s\n/);
      const way = "nodes with id: edge-1 first, then 50 %, all";
      const begins = "the rollout halted at step 1 of 2 begins anew, with this change";
      assert.ok(anew.includes(`\nrollout: ${way}; ${begins}\ndry run, layer api: 1 added; nothing was done\n`), anew);
      const ends = "the rollout halted at step 1 of 2 ends: its change is taken back";
      const back = await dryRun("1s");
      assert.ok(back.includes(`\nrollout: at once, and ${ends}\n`), back);
      assert.equal((await server.run("rollout", "promote")).status, 0);
      assert.ok((await dryRun("5s")).includes(`\nrollout: ${way}\n`));
    }));

  it("is held back by the quarantine once the rollout is undone, and so are all others", () =>
    halted(async (server) => {
      assert.equal((await server.run("rollout", "undo")).status, 0);
      await states(server, { "held-back": 3 });
      const { why } = await fleetNode(server, "edge-1");
      assert.equal(why, "cluster: 1 resource held back by a quarantine");
      await server.folder.write("edge/a.yaml", clusterYaml("a"));
      await states(server, { synced: 3 });
    }));
});
