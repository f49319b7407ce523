import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import { CopiedStore } from "../../../stores/copied/copied-store.js";
import { StoreCopy } from "../../../stores/copied/store-copy.js";
import { createMemoryStore } from "../../../stores/tables/memory-store.js";
import { RolloutServers } from "../../../testing/rollout-servers.js";
import { lent } from "../../../testing/with-methods.js";
import { copiedRollouts } from "./copied-rollouts.js";
import { courses } from "./record.js";

it("a server that starts while the store is away holds back what a rollout has not reached", async (t) => {
  const servers = await RolloutServers.create({ rollout: { steps: [{ match: { id: "first" } }], soakMs: 600_000 } });
  t.after(() => servers.close());
  const machine = await createMemoryStore();
  t.after(() => machine.close());
  const problem = (finding: unknown) => assert.fail(JSON.stringify(finding));
  const opened = async (isThere: boolean) => {
    const open = async () => {
      if (!isThere) throw XdskitError.of("XDSKIT_STORE", "nobody answers");
      return lent(servers.store);
    };
    const copy = new StoreCopy(lent(machine));
    const store = await CopiedStore.open({ name: "far", open, copy, problem, keys: copiedRollouts });
    t.after(() => store.close());
    return store;
  };
  const copying = await opened(true);
  const one = await servers.start();
  await one.write({ a: "1" });
  const [first, second] = ["first", "second"].map((id) => one.connect({ id }));
  await servers.until("both have it", () => second?.current.get("a") === "1");
  await one.write({ a: "2" });
  await servers.until("the first has it", () => first?.current.get("a") === "2" && second?.current.get("a") === "1");
  await servers.until("it soaks", () => one.server.rollouts()[0]?.state === "soaking");
  const isCopied = async () => {
    const [[there], [here]] = [await servers.store.shared.list(courses), await new StoreCopy(machine).shared(courses)];
    return there !== undefined && there.version === here?.version;
  };
  for (let tries = 0; !(await isCopied()); tries += 1) {
    assert.ok(tries < 1_000, "it is not copied");
    await delay(10);
  }
  await copying.close();
  await one.kill();
  const late = await servers.start(await opened(false));
  const clients = ["first", "second"].map((id) => late.connect({ id }));
  await servers.until("they have something", () => clients.every(({ current }) => current.size > 0));
  await servers.pass(1_000);
  assert.deepEqual(
    clients.map(({ current }) => current.get("a")),
    ["2", "1"],
  );
});
