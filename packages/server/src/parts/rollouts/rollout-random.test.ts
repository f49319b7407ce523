import assert from "node:assert/strict";
import { test } from "node:test";
import type { RolloutSettings } from "../../settings/rollout-settings.js";
import { times } from "../../testing/basics/effort.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { randomFrom } from "../../testing/basics/random.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { type JudgingClient, judgingClient } from "../../testing/clients/judging-client.js";
import { withMemoryServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

/** `SEED=7` plays one seed. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(6) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 40;
const rollouts: readonly RolloutSettings[] = [
  { steps: [{ count: 1 }, { percent: 50 }], soakMs: 1_000 },
  { steps: [{ percent: 30 }], soakMs: 0 },
  { steps: [{ match: { cluster: "sotw" } }], soakMs: 500, timeoutMs: 5_000 },
];

/** The contents of the model, by name. */
type Contents = Map<string, string>;

/** The contents of clients that get the newest, and of clients that a rollout has not reached. */
function createModel() {
  const newest: Contents = new Map([["always", "0"]]);
  let base: Contents = new Map(newest);
  /** The contents that were rolled back, which nobody may have, and their replacements. */
  const back = new Map<string, { readonly bad: string | undefined; readonly instead: string | undefined }>();
  const put = (to: Contents, name: string, content: string | undefined) =>
    content === undefined ? to.delete(name) : to.set(name, content);

  function effective(): Contents {
    const seen = new Map(newest);
    for (const [name, { bad, instead }] of back) if (newest.get(name) === bad) put(seen, name, instead);
    return seen;
  }
  return {
    newest,
    effective,
    get base() {
      return base;
    },
    /** Changes contents for all clients at once, or only for those that a rollout reaches. */
    change(changes: ReadonlyMap<string, string | undefined>, forAll: boolean): void {
      for (const [name, content] of changes) {
        // An equal content is no change, and no rollout.
        if (newest.get(name) === content) continue;
        put(newest, name, content);
        if (forAll) put(base, name, content);
      }
    },
    everywhere() {
      base = effective();
    },
    /** Returns the names whose contents were rolled back. */
    rollBack(): ReadonlySet<string> {
      const seen = effective();
      for (const name of new Set([...seen.keys(), ...base.keys()]))
        if (seen.get(name) !== base.get(name)) back.set(name, { bad: newest.get(name), instead: base.get(name) });
      return new Set(back.keys());
    },
  };
}

const shown = (contents: ReadonlyMap<string, string>) =>
  [...contents]
    .map(([name, content]) => `${name}=${content}`)
    .sort()
    .join(" ");

for (const seed of seeds) {
  test(`each client has the contents for all, or those from before (seed ${seed})`, async () => {
    const random = randomFrom(seed);
    const clock = manualClock();
    await withMemoryServer({ clock, ordering: false }, async ({ server, transport, address }) => {
      const model = createModel();
      server.config.set([cluster("always", "0")]);
      const clients: JudgingClient[] = Array.from({ length: 6 }, (_, index) => {
        const variant = index % 2 === 0 ? "sotw" : "delta";
        return judgingClient(transport, address, { id: `n${index}`, cluster: variant, variant });
      });
      const isUnderWay = () => ["waiting", "soaking", "halted"].includes(server.rollouts()[0]?.state ?? "");
      const isAtRest = () => {
        if (!isUnderWay()) model.everywhere();
        const now = shown(model.effective());
        const before = shown(model.base);
        const held = clients.map((client) => shown(client.current));
        if (now === before) return held.every((each) => each === now);
        const old = held.filter((each) => each === before).length;
        return held.every((each) => each === now || each === before) && old === server.rollouts()[0]?.nodes.held;
      };
      /** A client is called held back where it lacks what its group has, and synced otherwise. */
      const isCalled = ({ current, id }: JudgingClient) => {
        const expected = shown(current) === shown(model.newest) ? "synced" : "held-back";
        return server.node(id)?.state === expected;
      };
      const settled = async (what: string) => {
        try {
          await waitFor(what, () => isAtRest() && clients.every(isCalled), 10_000);
        } catch {
          const held = clients.map((client) => shown(client.current));
          const { state, step, nodes } = server.rollouts()[0] ?? {};
          const model_ = { now: shown(model.effective()), before: shown(model.base) };
          assert.fail(`after ${what}: ${JSON.stringify({ ...model_, held, state, step, nodes }, undefined, 2)}`);
        }
      };
      await settled("the start");
      let count = 0;
      let names = ["a", "b", "c", "d"];
      for (let step = 0; step < steps; step++) {
        const rollout = server.rollouts()[0];
        let did = "nothing";
        switch (random(10)) {
          case 0:
          case 1:
          case 2:
          case 3: {
            const changes = new Map<string, string | undefined>();
            for (let left = 1 + random(2); left > 0; left--) {
              count += 1;
              const content = random(4) === 0 ? undefined : random(3) === 0 ? "again" : String(count);
              changes.set(names[random(names.length)] ?? "a", content);
            }
            const settings = random(4) === 0 ? "off" : (rollouts[random(rollouts.length)] ?? "off");
            did = `${JSON.stringify([...changes])} by ${JSON.stringify(settings)}`;
            model.change(changes, settings === "off");
            server.config.update(
              {
                upsert: [...changes].flatMap(([name, content]) =>
                  content === undefined ? [] : [cluster(name, content)],
                ),
                remove: [...changes].flatMap(([name, content]) =>
                  content === undefined ? [{ type: "cluster", name }] : [],
                ),
              },
              { rollout: settings },
            );
            break;
          }
          case 4:
          case 5:
            did = "time";
            clock.advance(600);
            break;
          case 6:
            did = "a reconnect";
            clients[random(clients.length)]?.connect();
            break;
          case 7:
            did = "promote";
            if (rollout?.promote()) model.everywhere();
            break;
          case 8:
            did = "roll back";
            if (isUnderWay()) {
              // Other tests check what comes next of them.
              const back = model.rollBack();
              names = names.map((name) => (back.has(name) ? `${name}'` : name));
            }
            rollout?.rollBack();
            break;
          default:
            did = "halt and resume";
            if (random(2) === 0) rollout?.halt();
            else rollout?.resume();
        }
        await settled(`step ${step}, ${did}`);
      }
      for (const each of server.rollouts()) each.promote();
      for (const each of server.quarantines()) each.lift();
      const type = server.types.find("cluster")!;
      const all = [...(server.snapshotOf("all")?.of(type) ?? [])].map(({ name }) => name).sort();
      await waitFor("everything at all", () =>
        clients.every(({ current }) => [...current.keys()].sort().join() === all.join()),
      );
    });
  });
}
