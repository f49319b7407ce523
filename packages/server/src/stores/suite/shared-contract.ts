import assert from "node:assert/strict";
import { it } from "node:test";
import type { SharedEntry, SharedKeys, SharedSession } from "../../contracts/stores/shared-keys.js";
import { Heard, type StoreUnderTest, withTwo } from "./store-under-test.js";

function watched(shared: SharedKeys, prefix: string): Heard<readonly SharedEntry[]> {
  const heard = new Heard<readonly SharedEntry[]>();
  const { close } = shared.watch(prefix, {
    entriesChanged: (entries) => heard.tell(entries),
    away: ({ message }) => heard.fail(message),
  });
  heard.close = close;
  return heard;
}

function put(shared: SharedKeys, key: string, value: string, session?: SharedSession): Promise<string | undefined> {
  return shared.put({ key, value, expected: undefined, session });
}

function textOf(entries: readonly SharedEntry[]): string {
  return entries.map(({ key, value }) => `${key}=${value}`).join(" ");
}

const noLoss = { ttlMs: 10_000, lost: () => assert.fail("the session was lost") };

/** What every store must do with values that servers share. */
export function describeSharedKeys(under: StoreUnderTest): void {
  itSwapsValues(under);
  itKeepsSessions(under);
}

function itSwapsValues(under: StoreUnderTest): void {
  it("a shared value is put where there is nothing, and replaced by whoever knows its version", () =>
    withTwo(under, async ({ shared }, other) => {
      const first = (await put(shared, "a/one", "1")) ?? assert.fail();
      assert.equal(await put(other.shared, "a/one", "2"), undefined);
      const second = await other.shared.put({ key: "a/one", value: "2", expected: first });
      assert.ok(second !== undefined && second !== first);
      assert.equal(await shared.put({ key: "a/one", value: "3", expected: first }), undefined);
      assert.deepEqual(await shared.list("a/"), [{ key: "a/one", value: "2", version: second }]);
      assert.ok(await shared.put({ key: "a/one", value: "4", expected: "any" }));
      assert.equal(textOf(await other.shared.list("")), "a/one=4");
    }));

  it("lets one of many win that put the same key", () =>
    withTwo(under, async ({ shared }, other) => {
      const tries = Array.from({ length: 10 }, (_, index) =>
        put(index % 2 === 0 ? shared : other.shared, "leader", `${index}`),
      );
      const won = (await Promise.all(tries)).filter((version) => version !== undefined);
      assert.deepEqual(
        (await shared.list("leader")).map(({ version }) => version),
        won,
      );
    }));

  it("a shared value is removed by whoever knows its version", () =>
    withTwo(under, async ({ shared }, other) => {
      const first = (await put(shared, "one", "1")) ?? assert.fail();
      const second = (await shared.put({ key: "one", value: "2", expected: first })) ?? assert.fail();
      assert.equal(await other.shared.remove("one", first), false);
      assert.equal(await other.shared.remove("one", second), true);
      assert.deepEqual(await shared.list(""), []);
      assert.equal(await shared.remove("one", second), true);
      const again = await put(shared, "one", "1");
      assert.ok(again !== first && again !== second && again !== undefined);
    }));

  it("shared values come sorted by key, and only those whose keys begin as asked", () =>
    withTwo(under, async ({ shared }) => {
      for (const key of ["b/2", "a/1", "b/1", "b", "c"]) await put(shared, key, "x");
      assert.equal(textOf(await shared.list("b/")), "b/1=x b/2=x");
      assert.equal((await shared.list("")).length, 5);
    }));

  it("a shared value may be long and hold anything, and a wrong key is refused", () =>
    withTwo(under, async ({ shared }) => {
      const long = `é"\u0000${"x".repeat(500_000)}`;
      await put(shared, "long", long);
      assert.equal((await shared.list("long"))[0]?.value, long);
      await assert.rejects(put(shared, "a key", ""), RangeError);
      await assert.rejects(put(shared, "", ""), RangeError);
      await assert.rejects(put(shared, "long", "x".repeat(600_000)), RangeError);
    }));

  it("a watch of shared values begins with all of them, and hears of every writer", () =>
    withTwo(under, async ({ shared }, other) => {
      await put(other.shared, "a/1", "x");
      await put(other.shared, "b/1", "x");
      const heard = watched(shared, "a/");
      await heard.until((entries) => textOf(entries) === "a/1=x");
      await put(other.shared, "a/2", "y");
      await heard.until((entries) => textOf(entries) === "a/1=x a/2=y");
      await shared.remove("a/1", "any");
      await heard.until((entries) => textOf(entries) === "a/2=y");
      heard.close();
      await put(other.shared, "a/3", "z");
      const later = watched(shared, "a/");
      await later.until((entries) => textOf(entries) === "a/2=y a/3=z");
      assert.equal(textOf(heard.all.at(-1) ?? []), "a/2=y");
      later.close();
    }));
}

function itKeepsSessions(under: StoreUnderTest): void {
  it("what was put with a session goes when it is closed, and what others put stays", () =>
    withTwo(under, async ({ shared }, other) => {
      const mine = await shared.session(noLoss);
      const heard = watched(other.shared, "");
      await put(shared, "mine", "1", mine);
      await put(shared, "free", "1");
      await heard.until((entries) => textOf(entries) === "free=1 mine=1");
      assert.equal(mine.isOver, false);
      await mine.close();
      await heard.until((entries) => textOf(entries) === "free=1");
      assert.equal(mine.isOver, true);
      await assert.rejects(put(shared, "mine", "1", mine), { code: "XDSKIT_STORE" });
      await mine.close();
      heard.close();
    }));

  it("a session that lives longer than its time keeps what was put with it", () =>
    withTwo(under, async ({ shared }, other) => {
      const session = await shared.session({ ...noLoss, ttlMs: 2_000 });
      await put(shared, "mine", "1", session);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      assert.equal(textOf(await other.shared.list("")), "mine=1");
      await session.close();
    }));

  it("a value that another session replaces stays with that one", () =>
    withTwo(under, async ({ shared }, other) => {
      const [first, second] = [await shared.session(noLoss), await other.shared.session(noLoss)];
      const version = await put(shared, "leader", "first", first);
      assert.ok(await other.shared.put({ key: "leader", value: "second", expected: version, session: second }));
      const heard = watched(shared, "");
      await first.close();
      await put(shared, "after", "1");
      await heard.until((entries) => textOf(entries) === "after=1 leader=second");
      await second.close();
      await heard.until((entries) => textOf(entries) === "after=1");
      heard.close();
    }));
}
