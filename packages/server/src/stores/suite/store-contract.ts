import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommitInfo, Revision, Store } from "../../contracts/stores/store.js";
import { describeSharedKeys } from "./shared-contract.js";
import { contentsAt, info, patch, resource, StoreTester, type } from "./store-tester.js";
import type { StoreUnderTest } from "./store-under-test.js";
import { describeWatching } from "./watch-contract.js";

/** The tests of every `Store`. Run it for each implementation, inside of `node:test`. */
export function describeStore(under: StoreUnderTest): void {
  const tester = new StoreTester(under);
  describe(`the contract of a store: ${under.name}`, () => {
    itKeepsRevisions(tester);
    itMakesRevisionsOfChanges(tester);
    itComparesAndSwaps(tester);
    itForgetsWhatIsOld(tester);
    itKeepsWhatIsInUse(tester);
    itSaysWhy(tester);
    itTakesAnything(tester);
    itTakesLargeCommits(tester);
    if (under.reopen !== undefined) itLasts(tester, under.reopen);
    describeWatching(under);
    describeSharedKeys(under);
  });
}

function itKeepsRevisions({ withStore }: StoreTester): void {
  it("an empty store has no heads, and knows no revision", () =>
    withStore(async (store) => {
      assert.deepEqual(await store.heads(), []);
      assert.equal(await store.head("a"), undefined);
      assert.equal(await store.revision("x"), undefined);
      assert.deepEqual(await store.history("a", { limit: 10 }), []);
      await assert.rejects(store.read("x"), { code: "XDSKIT_REVISION_UNKNOWN" });
      await assert.rejects(store.versions("x"), { code: "XDSKIT_REVISION_UNKNOWN" });
      await assert.rejects(store.changes("x"), { code: "XDSKIT_REVISION_UNKNOWN" });
    }));

  it("a revision says who made it, when, why, and what it changed", () =>
    withStore(async (store) => {
      const first = await patch(store, "a", [resource("one", "1"), resource("two", "1")]);
      const second = await patch(store, "a", [resource("one", "2"), resource("new", "1")], ["two"], info("why", 5_000));
      assert.deepEqual(await store.revision(second.id), second);
      const { id, parent, number, time, author, cause, message, upserted, removed } = second;
      assert.deepEqual(
        { parent, number, time, author },
        { parent: first.id, number: 2, time: 5_000, author: "a test" },
      );
      assert.deepEqual({ cause, message }, { cause: { kind: "api", caller: "a test" }, message: "why" });
      assert.deepEqual({ upserted, removed }, { upserted: 2, removed: 1 });
      const changes = (await store.changes(id)).map(({ key, from, to }) => [key, from, to]);
      assert.deepEqual(changes.sort(), [
        ["new", undefined, "1"],
        ["one", "1", "2"],
        ["two", "1", undefined],
      ]);
    }));

  it("every revision can be read, whatever came after it", () =>
    withStore(async (store) => {
      const expected: { revision: Revision; holds: Record<string, string> }[] = [];
      let holds: Record<string, string> = {};
      for (let number = 0; number < 40; number += 1) {
        const key = `r${number % 7}`;
        const goes = number % 3 === 0 ? [`r${(number + 3) % 7}`] : [];
        holds = { ...holds, [key]: `${number}` };
        for (const gone of goes) delete holds[gone];
        expected.push({ revision: await patch(store, "a", [resource(key, `${number}`)], goes), holds });
        await patch(store, "b", [resource(key, `b${number}`)]);
      }
      for (const one of expected) assert.deepEqual(await contentsAt(store, one.revision), sorted(one.holds));
    }));
}

function itMakesRevisionsOfChanges({ withStore }: StoreTester): void {
  it("a replacement removes what it does not name", () =>
    withStore(async (store) => {
      const { id: parent } = await patch(store, "a", [resource("one", "1"), resource("two", "1")]);
      const upsert = [resource("two", "1"), resource("three", "1")];
      const result = await store.commit([{ layer: "a", parent, kind: "replace", upsert }], info(""));
      assert.equal(result.kind, "committed");
      const head = result.heads[0] ?? assert.fail();
      assert.deepEqual(await contentsAt(store, head), { three: "1", two: "1" });
      assert.deepEqual([head.upserted, head.removed], [1, 1]);
    }));

  it("a commit in which nothing differs makes no revision", () =>
    withStore(async (store) => {
      const first = await patch(store, "a", [resource("one", "1")]);
      assert.deepEqual(await patch(store, "a", [resource("one", "1")], ["nobody"]), first);
      assert.equal((await store.history("a", { limit: 10 })).length, 1);
    }));

  it("a commit that makes a revision always makes one of nothing, too", () =>
    withStore(async (store) => {
      const first = await patch(store, "a", [resource("one", "1")]);
      const upsert = [resource("one", "1")];
      const same = { layer: "a", parent: first.id, kind: "replace", upsert, always: true } as const;
      const result = await store.commit([same], info("again"));
      assert.ok(result.kind === "committed");
      const head = result.heads[0] ?? assert.fail();
      assert.deepEqual([head.number, head.parent, head.upserted, head.removed], [2, first.id, 0, 0]);
      assert.deepEqual(await store.changes(head.id), []);
      assert.deepEqual(await contentsAt(store, head), { one: "1" });
      assert.deepEqual(await contentsAt(store, first), { one: "1" });
    }));

  it("a layer may be empty, and is known then", () =>
    withStore(async (store) => {
      const head = await patch(store, "a", []);
      assert.deepEqual(await contentsAt(store, head), {});
      assert.deepEqual(await store.heads(), [head]);
    }));
}

function itComparesAndSwaps({ withStore }: StoreTester): void {
  it("of two writers at the same head one is told of the other, and nothing of its commit is there", () =>
    withStore(async (store) => {
      const { id: parent } = await patch(store, "a", [resource("one", "1")]);
      const commit = (version: string) =>
        store.commit(
          [
            { layer: "b", parent: undefined, kind: "patch", upsert: [resource("b", version)] },
            { layer: "a", parent, kind: "patch", upsert: [resource("one", version)] },
          ],
          info(version),
        );
      const results = await Promise.all([commit("x"), commit("y")]);
      const lost = results.find(({ kind }) => kind === "conflict") ?? assert.fail("both were taken");
      assert.ok(lost.kind === "conflict" && results.some(({ kind }) => kind === "committed"));
      assert.deepEqual(lost.head, await store.head(lost.layer));
      const [a, b] = await store.heads();
      const won = await contentsAt(store, a ?? assert.fail());
      assert.deepEqual(await contentsAt(store, b ?? assert.fail()), { b: won.one });
      assert.equal((await store.history("a", { limit: 10 })).length, 2);
    }));

  it("no revision has a time before its parent's, and those of one commit have the same, whatever its writer says", () =>
    withStore(async (store) => {
      const times = [];
      for (const [version, time] of [5_000, 1_000, 6_000].entries())
        times.push((await patch(store, "a", [resource("one", `${version}`)], [], info("a change", time))).time);
      assert.deepEqual(times, [5_000, 5_000, 6_000]);
      const parents = [(await store.head("a"))?.id, undefined];
      const upsert = [resource("two", "1")];
      const commits = ["a", "b"].map(
        (layer, index) => ({ layer, kind: "patch", upsert, parent: parents[index] }) as const,
      );
      const result = await store.commit(commits, info("a change", 2_000));
      assert.ok(result.kind === "committed");
      assert.deepEqual(
        result.heads.map((head) => head?.time),
        [6_000, 6_000],
      );
    }));

  it("a wrong parent is a conflict: a layer that is there, one that is not", () =>
    withStore(async (store) => {
      const first = await patch(store, "a", [resource("one", "1")]);
      const blind = await store.commit([{ layer: "a", parent: undefined, kind: "patch", upsert: [] }], info(""));
      assert.deepEqual(blind, { kind: "conflict", layer: "a", head: first });
      const wrong = await store.commit([{ layer: "new", parent: "x", kind: "patch", upsert: [] }], info(""));
      assert.deepEqual(wrong, { kind: "conflict", layer: "new", head: undefined });
    }));
}

function itForgetsWhatIsOld({ withStore }: StoreTester): void {
  it("history comes newest first, page by page", () =>
    withStore(async (store) => {
      for (let number = 1; number <= 12; number += 1) await patch(store, "a", [resource("one", `${number}`)]);
      await patch(store, "b", [resource("one", "other")]);
      const page = await store.history("a", { limit: 5 });
      assert.deepEqual(
        page.map(({ number }) => number),
        [12, 11, 10, 9, 8],
      );
      const rest = await store.history("a", { limit: 50, before: 8 });
      assert.deepEqual(
        rest.map(({ number }) => number),
        [7, 6, 5, 4, 3, 2, 1],
      );
    }));

  it("what retention removes is gone, with the contents that no revision has or replaced", () =>
    withStore(async (store) => {
      const revisions: Revision[] = [];
      for (let number = 1; number <= 6; number += 1)
        revisions.push(await patch(store, "a", [resource("one", `${number}`)], [], info("", number * 1_000)));
      // The same content in another layer is one content, which stays with that layer.
      await patch(store, "b", [resource("one", "2")]);
      assert.equal(await store.retain({ revisions: 3, since: 0 }), 3);
      const [, , third, fourth] = revisions;
      await assert.rejects(store.read((third ?? assert.fail()).id), { code: "XDSKIT_REVISION_UNKNOWN" });
      assert.deepEqual(await contentsAt(store, fourth ?? assert.fail()), { one: "4" });
      const known = await Promise.all(
        ["1", "2", "3", "4", "5", "6"].map((version) => store.content(type, "one", version)),
      );
      assert.deepEqual(
        known.map((bytes) => bytes !== undefined),
        [false, true, true, true, true, true],
      );
      assert.equal(await store.retain({ revisions: 100, since: 5_500 }), 2);
      assert.equal(await store.content(type, "one", "4"), undefined);
      assert.equal(await store.retain({ revisions: 1, since: 1e15 }), 0);
      assert.deepEqual(await contentsAt(store, revisions[5] ?? assert.fail()), { one: "6" });
      assert.equal((await patch(store, "a", [resource("one", "7")])).number, 7);
    }));

  it("revisions that leases make are counted apart, and push out no other", () =>
    withStore(async (store) => {
      const leased = (cause: CommitInfo["cause"]): CommitInfo => ({ ...info(""), cause });
      const came = leased({ kind: "api", caller: "a test", leased: true });
      const ended = leased({ kind: "lease-ended", lease: "x" });
      const own: Revision[] = [];
      for (let number = 1; number <= 3; number += 1) {
        own.push(await patch(store, "a", [resource("one", `${number}`)]));
        await patch(store, "a", [resource("leased", `${number}`)], [], came);
        await patch(store, "a", [], ["leased"], ended);
      }
      assert.equal(await store.retain({ revisions: 3, leases: 6, since: 0 }), 0);
      assert.equal(await store.retain({ revisions: 2, leases: 6, since: 0 }), 1);
      assert.deepEqual(await contentsAt(store, own[1] ?? assert.fail()), { one: "2" });
      // The line stays whole: its old end goes.
      assert.equal(await store.retain({ revisions: 2, leases: 3, since: 0 }), 4);
      assert.deepEqual(await contentsAt(store, own[2] ?? assert.fail()), { one: "3" });
      assert.equal(await store.retain({ revisions: 2, since: 0 }), 2);
      assert.equal((await store.history("a", { limit: 10 })).length, 2);
    }));

  it("a content that comes back after it went is kept as long as a revision has it", () =>
    withStore(async (store) => {
      await patch(store, "a", [resource("one", "1")]);
      await patch(store, "a", [], ["one"]);
      await patch(store, "a", [resource("one", "1")]);
      await store.retain({ revisions: 1, since: 0 });
      assert.ok(await store.content(type, "one", "1"));
      await patch(store, "a", [], ["one"]);
      await patch(store, "a", [resource("other", "1")]);
      await store.retain({ revisions: 1, since: 0 });
      assert.equal(await store.content(type, "one", "1"), undefined);
    }));
}

function itKeepsWhatIsInUse({ withStore }: StoreTester): void {
  it("the newest stay however old they are, and so does what is in use", () =>
    withStore(async (store) => {
      for (let number = 1; number <= 6; number += 1)
        await patch(store, "a", [resource("one", `${number}`)], [], info("", number * 1_000));
      assert.equal(await store.retain({ revisions: 1, since: 1e15, least: 5 }), 1);
      assert.equal(await store.retain({ revisions: 1, since: 1e15, inUseSince: 4_000 }), 2);
      assert.ok(await store.content(type, "one", "3"));
      assert.equal(await store.retain({ revisions: 1, since: 1e15, least: 1, inUseSince: 1e15 }), 2);
    }));

  it("what clients still use stays with all that followed, up to the age and the most that leases make", () =>
    withStore(async (store) => {
      for (let number = 1; number <= 6; number += 1)
        await patch(store, "a", [resource("one", `${number}`)], [], info("", number * 1_000));
      assert.equal(await store.retain({ revisions: 1, since: 0, usedSince: 2_500 }), 1);
      assert.equal((await store.history("a", { limit: 10 })).at(-1)?.time, 2_000);
      assert.equal(await store.retain({ revisions: 1, since: 3_000, usedSince: 2_500 }), 1);
      const leased: CommitInfo = { ...info("", 7_000), cause: { kind: "api", caller: "a test", leased: true } };
      for (const number of ["1", "2"]) await patch(store, "a", [resource("leased", number)], [], leased);
      assert.equal(await store.retain({ revisions: 1, leases: 2, since: 0, usedSince: 3_000 }), 0);
      assert.equal(await store.retain({ revisions: 1, leases: 1, since: 0, usedSince: 3_000 }), 5);
      assert.equal((await store.history("a", { limit: 10 })).length, 1);
    }));
}

function itSaysWhy({ withStore }: StoreTester): void {
  it("each layer of a commit may have a cause of its own", () =>
    withStore(async (store) => {
      const cause = { kind: "files", files: ["a.yaml"] } as const;
      const commit = { parent: undefined, kind: "patch", upsert: [resource("one", "1")] } as const;
      const layers = [
        { ...commit, layer: "a", cause },
        { ...commit, layer: "b" },
      ];
      const result = await store.commit(layers, info(""));
      assert.ok(result.kind === "committed");
      const causes = result.heads.map((head) => head?.cause);
      assert.deepEqual(causes, [cause, info("").cause]);
      assert.deepEqual((await store.head("a"))?.cause, cause);
    }));
}

function itTakesAnything({ withStore }: StoreTester): void {
  it("names may be long, and hold anything", () =>
    withStore(async (store) => {
      const keys = ["x".repeat(5_000), "a\u0000b", "\ud800\ud800x", "é", '"', ""];
      const layer = `layer ${"/deep".repeat(1_000)}`;
      const head = await patch(
        store,
        layer,
        keys.map((key) => resource(key, "1")),
      );
      assert.equal(head.layer, layer);
      assert.deepEqual((await store.read(head.id)).map(({ key }) => key).sort(), [...keys].sort());
      assert.deepEqual((await store.changes(head.id)).map(({ key }) => key).sort(), [...keys].sort());
    }));

  it("a commit of ten thousand resources is one revision, and another one costs its change", () =>
    withStore(async (store) => {
      const upsert = Array.from({ length: 10_000 }, (_, index) => resource(`r${index}`, "1"));
      const head = await patch(store, "a", upsert);
      assert.deepEqual([head.number, head.upserted], [1, 10_000]);
      const next = await patch(store, "a", [resource("r7", "2")]);
      assert.equal((await store.changes(next.id)).length, 1);
      assert.equal((await store.read(next.id)).length, 10_000);
      assert.equal((await store.read(head.id)).length, 10_000);
    }));
}

function itTakesLargeCommits({ withStore }: StoreTester): void {
  const many = (version: string) => Array.from({ length: 2_500 }, (_, index) => resource(`r${index}`, version));

  it("a large commit replaces, removes and is forgotten as a small one", () =>
    withStore(async (store) => {
      const first = await patch(store, "a", many("1"));
      const [changed] = many("2");
      const upsert = [changed ?? assert.fail(), ...many("1").slice(1)];
      const replaced = await store.commit([{ layer: "a", parent: first.id, kind: "replace", upsert }], info("", 2_000));
      assert.ok(replaced.kind === "committed");
      const second = replaced.heads[0] ?? assert.fail();
      assert.deepEqual([second.number, second.upserted, second.removed], [2, 1, 0]);
      const equal = await store.commit([{ layer: "a", parent: second.id, kind: "replace", upsert }], info("", 2_500));
      assert.deepEqual(equal, { kind: "committed", heads: [second] });
      const same = await store.commit(
        [{ layer: "a", parent: second.id, kind: "replace", upsert, always: true }],
        info("", 2_600),
      );
      assert.ok(same.kind === "committed");
      const keys = many("1").map(({ key }) => key);
      const third = await patch(store, "a", [], keys.slice(5), info("", 3_000));
      assert.deepEqual([third.upserted, third.removed], [0, 2_495]);
      assert.deepEqual(await contentsAt(store, third), { r0: "2", r1: "1", r2: "1", r3: "1", r4: "1" });
      assert.equal((await store.read(first.id)).length, 2_500);
      const small = await patch(store, "a", [resource("r0", "3")], [], info("", 4_000));
      assert.equal(await store.retain({ revisions: 1, since: 0 }), 4);
      assert.equal(await store.content(type, "r7", "1"), undefined);
      assert.deepEqual(await contentsAt(store, small), { r0: "3", r1: "1", r2: "1", r3: "1", r4: "1" });
    }));

  it("a replacement by nothing empties a large layer", () =>
    withStore(async (store) => {
      const { id: parent } = await patch(store, "a", many("1"));
      const emptied = await store.commit([{ layer: "a", parent, kind: "replace", upsert: [] }], info(""));
      assert.ok(emptied.kind === "committed");
      assert.deepEqual([emptied.heads[0]?.upserted, emptied.heads[0]?.removed], [0, 2_500]);
    }));

  it("of two large commits at the same head one is told of the other", () =>
    withStore(async (store) => {
      const { id: parent } = await patch(store, "a", [resource("r0", "0")]);
      const commit = (version: string) =>
        store.commit([{ layer: "a", parent, kind: "replace", upsert: many(version) }], info(version));
      const results = await Promise.all([commit("1"), commit("2")]);
      assert.deepEqual(results.map(({ kind }) => kind).sort(), ["committed", "conflict"]);
      const head = (await store.head("a")) ?? assert.fail();
      assert.equal(new Set(Object.values(await contentsAt(store, head))).size, 1);
      assert.equal((await store.history("a", { limit: 10 })).length, 2);
    }));
}

function itLasts(tester: StoreTester, reopen: () => Promise<Store>): void {
  it("everything is there when it is opened again", () =>
    tester.withStore(async (store) => {
      const first = await patch(store, "a", [resource("one", "1"), resource("two", "1")]);
      const second = await patch(store, "a", [resource("one", "2")], ["two"]);
      const open = await tester.reopened(reopen);
      assert.deepEqual(await open.heads(), [second]);
      assert.deepEqual(await contentsAt(open, first), { one: "1", two: "1" });
      assert.deepEqual(await contentsAt(open, second), { one: "2" });
      assert.equal((await patch(open, "a", [resource("one", "3")])).number, 3);
    }));
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort());
}
