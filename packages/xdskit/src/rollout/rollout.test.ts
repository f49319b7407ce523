import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, test } from "node:test";
import { createAdmin } from "@xdskit/admin";
import { cluster, resourcesOf, see, withStage } from "../../../relay/src/testing/relayed.js";
import type { RolloutJson } from "../api-client/api-types.js";
import { plain } from "../output/colours.js";
import { eventually, xdskitEnds } from "../testing/command.js";
import { inProcessEnds } from "../testing/in-process.js";
import { rolloutText } from "./rollout-text.js";

const rollout = (...args: readonly string[]) => inProcessEnds("rollout", ...args);

interface Hooks {
  /** Puts the old content back. */
  takeBack(): void;
  /** Ends the rollout, and begins another one. */
  begin(content: string): void;
  /** Called once after somebody has looked. */
  looked: () => void;
}

/** A server with a change at its first step, and its admin listener. */
async function withRollout(run: (url: string, hooks: Hooks) => Promise<void>): Promise<void> {
  await withStage(async ({ origin, client }) => {
    const group = (name: string, match: Record<string, string>) => ({ name, match, layers: ["default"] });
    const groups = [group("edge", { id: "of-edge" }), group("all", {})];
    const { server, address } = await origin({ groups });
    server.config.set(resourcesOf(cluster("web")));
    see(client(address), "cluster");
    await eventually(
      async () => server.node("edge")?.state,
      (state) => state === "synced",
    );
    const steps = [{ match: { id: "nobody" } }, { percent: 50 }];
    const begin = (content: string) => {
      server.rollouts()[0]?.promote();
      server.config.update(
        { upsert: resourcesOf(cluster("web", content)) },
        { rollout: { steps, timeoutMs: 600_000 } },
      );
    };
    begin("2s");
    const takeBack = () => server.config.update({ upsert: resourcesOf(cluster("web")) });
    const hooks: Hooks = { begin, takeBack, looked: () => {} };
    const watched = {
      quarantines: () => server.quarantines(),
      rollouts() {
        const found = server.rollouts();
        const { looked } = hooks;
        hooks.looked = () => {};
        setImmediate(looked);
        return found;
      },
    };
    const admin = createAdmin({ ...server, ...watched });
    try {
      await run(`http://${await admin.listen("127.0.0.1:0")}`, hooks);
    } finally {
      await admin.close();
    }
  });
}

describe("xdskit rollout", () => {
  test("shows a rollout, halts it, resumes it and promotes it", () =>
    withRollout(async (server) => {
      const { status, out, err } = await xdskitEnds("rollout", "status", "--server", server);
      assert.deepEqual([status, err], [0, ""]);
      assert.equal(
        out,
        `group all: waiting at step 1 of 2 (id: nobody)
  changes 1 resource: cluster web
  nodes: 0 have it or are to have it, 0 of them without an answer, 0 rejected it, 1 keep what was before
`,
      );
      for (const [action, state] of [
        ["halt", "halted"],
        ["resume", "waiting"],
        ["promote", "completed"],
      ] as const) {
        const done = await rollout(action, "--server", server, "--output", "json");
        assert.deepEqual([done.status, JSON.parse(done.out).state], [0, state], action);
      }
      const over = await rollout("status", "--server", server);
      assert.equal(
        over.out,
        "group all: completed\n  changes 1 resource: cluster web\n  nodes: 1 have it or are to have it, 0 rejected it\n",
      );
      const again = await rollout("promote", "all", "--server", server);
      assert.deepEqual([again.status, again.out], [1, ""]);
      assert.equal(again.err, 'xdskit rollout: the rollout of group "all" is completed: promote does not apply\n');
      assert.match((await rollout("halt", "--server", server)).err, /^xdskit rollout: no rollout is under way\n$/);
    }));

  test("leads no other rollout than the one that it looked at", () =>
    withRollout(async (server, hooks) => {
      hooks.looked = () => hooks.begin("3s");
      const { status, err } = await rollout("promote", "--server", server);
      assert.equal(status, 1);
      assert.match(err, /^xdskit rollout: another rollout of group "all" has begun meanwhile: .*\n$/);
      const { rollouts } = JSON.parse((await rollout("status", "-o", "json", "--server", server)).out);
      assert.deepEqual([rollouts[0].id, rollouts[0].state], [2, "waiting"]);
    }));

  test("gives all nodes the old content with undo, and lists the quarantined resources with status", () =>
    withRollout(async (server) => {
      const { status, out } = await rollout("undo", "all", "--server", server);
      assert.equal(status, 0);
      assert.equal(
        out,
        `group all: rolled-back
  changes 1 resource: cluster web
  nodes: 0 had it or were to have it, 0 rejected it; all get what was before
`,
      );
      const { out: after } = await rollout("status", "--server", server);
      assert.match(after, /^quarantine: cluster web in all, rolled-back/m);
      const json = JSON.parse((await rollout("status", "all", "-o", "json", "--server", server)).out);
      assert.deepEqual([json.rollouts.length, json.quarantines[0].name], [1, "web"]);
      const other = await rollout("status", "edge", "--server", server);
      assert.deepEqual([other.status, other.err], [1, 'xdskit rollout: group "edge" has no rollout, only all\n']);
      for (const action of ["status", "halt"]) {
        const { status, err } = await rollout(action, "egde", "--server", server);
        assert.deepEqual(
          [status, err],
          [1, 'xdskit rollout: there is no group "egde": known are edge, all [XDSKIT_GROUP_UNKNOWN]\n'],
        );
      }
    }));

  test("says of a withdrawn rollout that nothing is left of it, and lists no resources", () =>
    withRollout(async (server, { takeBack }) => {
      takeBack();
      const { status, out } = await rollout("status", "--server", server);
      assert.equal(status, 0);
      assert.equal(
        out,
        "group all: withdrawn\n  nothing is left of its change: it was taken back, or went to all nodes at once\n",
      );
    }));

  test("says in one line what to do if there is no server, or another program in its place", async () => {
    const closed = await rollout("status", "--server", "http://127.0.0.1:1");
    assert.equal(closed.status, 1);
    assert.match(closed.err, /^xdskit rollout: no server runs at http:\/\/127\.0\.0\.1:1: start one .*--server\n$/);
    const page = createHttpServer((_, response) => response.writeHead(404).end("<html>\nnothing"));
    const other = createTcpServer((socket) => socket.end("\0\0\0no http"));
    for (const [server, text] of [
      [page, /^xdskit rollout: http:\/\/127\.0\.0\.1:\d+ answers 404: <html>; is it the admin address .*\n$/],
      [other, /^xdskit rollout: http:\/\/127\.0\.0\.1:\d+ does not speak HTTP\/1\.1: .*\n$/],
    ] as const) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const { status, out, err } = await rollout("status", "--server", `127.0.0.1:${port}`);
      server.close();
      assert.deepEqual([status, out], [1, ""]);
      assert.match(err, text);
    }
  });

  test("treats unknown words as wrong usage", async () => {
    for (const args of [[], ["begin"], ["status", "--server", "ftp://a"], ["status", "a", "b"]]) {
      assert.equal((await rollout(...args)).status, 2, args.join(" "));
    }
  });
});

test("a rollout lists ten rejections, and counts the others", () => {
  const rejections = Array.from({ length: 12 }, (_, place) => ({ node: `n${place}`, type: "cluster", message: "no" }));
  const nodes = { reached: 20, pending: 0, rejected: 12, held: 0 };
  const view = { group: "all", state: "halted", step: 1, steps: [{}], reason: "", nodes, waitsFor: [], rejections };
  const text = rolloutText({ ...view, resources: [], changed: 0 } as unknown as RolloutJson, plain);
  assert.deepEqual(text.split("\n").slice(-4), [
    "  n8 rejected cluster: no",
    "  n9 rejected cluster: no",
    "  … and 2 more",
    "",
  ]);
});
