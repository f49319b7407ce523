import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createMemoryStore, type SharedKeys } from "@xdskit/server";
import { withMethods } from "../../../../server/src/testing/with-methods.js";
import { HiddenReplica } from "./hidden-replica.js";

/** A state folder, and servers of it that cannot listen. */
async function stateFolder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-state-"));
  const store = await createMemoryStore();
  t.after(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  const { shared } = store;
  const hide = (id: string, keys: SharedKeys = shared, place = directory) => {
    const self = { id, name: id, version: "1" };
    const hidden = new HiddenReplica({ shared: keys, self, directory: place, problem() {} });
    t.after(() => hidden.close());
    return hidden;
  };
  const listed = async (count: number) => {
    for (let tries = 0; (await shared.list("replicas/hidden/")).length !== count; tries += 1) {
      assert.ok(tries < 500, `${count} are not in the store`);
      await delay(10);
    }
  };
  return { directory, shared, hide, listed };
}

describe("a server of a state folder that cannot listen", () => {
  it("is alone once it is in the store, and not while another one that cannot listen is there", async (t) => {
    const { hide, listed } = await stateFolder(t);
    const one = hide("one");
    await listed(1);
    assert.equal(await one.isAlone(), true);
    const other = hide("other");
    assert.equal(await other.isAlone(), false);
    await listed(2);
    assert.deepEqual([await one.isAlone(), await other.isAlone()], [false, false]);
    await one.close();
    assert.equal(await other.isAlone(), true);
  });

  it("is not alone while it cannot say in the store that it is there", async (t) => {
    const { hide, shared } = await stateFolder(t);
    const refused = async () => {
      throw new Error("the store is away");
    };
    assert.equal(await hide("one", withMethods(shared, { session: refused })).isAlone(), false);
  });

  it("is not alone while the store has a member", async (t) => {
    const { hide, listed, shared } = await stateFolder(t);
    const one = hide("one");
    await listed(1);
    await shared.put({ key: "replicas/members/other", value: "{}", expected: undefined });
    assert.equal(await one.isAlone(), false);
    await shared.remove("replicas/members/other", "any");
    assert.equal(await one.isAlone(), true);
  });

  it("is not alone while a server listens that takes itself for alone", async (t) => {
    const { hide, listed, directory } = await stateFolder(t);
    const one = hide("one");
    await listed(1);
    await mkdir(join(directory, "servers"));
    assert.equal(await one.isAlone(), true);
    const listening = createServer();
    await new Promise<void>((resolve) => listening.listen(join(directory, "servers", "other.sock"), resolve));
    assert.equal(await one.isAlone(), false);
    await new Promise((resolve) => listening.close(resolve));
    assert.equal(await one.isAlone(), true);
  });

  it("is not alone where it cannot find out whether a server listens", async (t) => {
    const { hide, listed, shared, directory } = await stateFolder(t);
    const long = join(directory, "x".repeat(100));
    await mkdir(join(long, "servers"), { recursive: true });
    const one = hide("one", shared, long);
    await listed(1);
    assert.equal(await one.isAlone(), true);
    // Under a shorter path of the folder, somebody may listen there.
    await writeFile(join(long, "servers", "other.sock"), "");
    assert.equal(await one.isAlone(), false);
  });

  it("is alone where no socket can be", async (t) => {
    const { hide, listed, directory } = await stateFolder(t);
    await writeFile(join(directory, "servers"), "");
    const one = hide("one");
    await listed(1);
    assert.equal(await one.isAlone(), true);
  });
});
