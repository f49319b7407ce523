import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createResource, deferred, envoyRegistry, type Finding, type Resource, resourceTypes } from "@xdskit/api";
import type { SourceSink, StepBack } from "../../contracts/source.js";
import type { Store } from "../../contracts/stores/store.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { cluster, loadAssignment } from "../../testing/test-resources.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { AheadFile } from "./ahead-file.js";
import { KeptSource } from "./kept-source.js";

const layer = "a";
const resources = (...names: readonly string[]) => names.map((name) => createResource(cluster(name)));

/** A process that serves a source; nothing ends it but the end of the test. */
async function serving(...given: Parameters<typeof sourceOf>) {
  const { start, ...source } = sourceOf(...given);
  await start();
  return source;
}

function sourceOf(store: Store, path: string | undefined, ...first: readonly Resource[]) {
  let inner: SourceSink | undefined;
  const resumed: StepBack[] = [];
  const problems: Finding[] = [];
  let written = 0;
  const kept = new KeptSource({
    source: {
      name: "played",
      async start(sink) {
        inner = sink;
        sink.apply([{ layer, kind: "replace", upsert: first }]);
      },
      close: async () => {},
    },
    store,
    layers: [layer],
    types: resourceTypes,
    registry: envoyRegistry(),
    restores: false,
    ahead: path === undefined ? undefined : new AheadFile(path),
    retention: { revisions: 100, since: 0 },
    describe: () => ({
      // As if all came in one millisecond.
      author: "me",
      message: "",
      time: 1,
      cause: { kind: "source", source: "played" },
    }),
    onRevision: () => {
      written += 1;
    },
    onProblem: (findings) => problems.push(...findings),
  });
  const start = () => kept.start({ apply: () => {}, resume: (steps) => void resumed.push(...steps), report: () => {} });
  const goTo = (upsert: readonly Resource[], remove: readonly Resource[] = []) =>
    inner?.apply([{ layer, kind: "patch", upsert, remove }]);
  return { kept, start, goTo, resumed, problems, written: () => written };
}

/** The names that clients may come back with, by step. */
const namesIn = (resumed: readonly StepBack[]) =>
  resumed.map(({ back }) =>
    back
      .flatMap(({ upsert }) => upsert.map(({ name }) => name))
      .sort()
      .join(),
  );

/** The same store for a process that is killed: what it has not written is never written. */
function killable(store: Store) {
  let isKilled = false;
  const commit: Store["commit"] = (...said) => (isKilled ? new Promise<never>(() => {}) : store.commit(...said));
  const killed = new Proxy(store, {
    get(target, key) {
      if (key === "commit") return commit;
      const value = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const kill = () => {
    isKilled = true;
  };
  return { store: killed, kill };
}

async function place(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-ahead-"));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, "a.ahead");
}

describe("what a source had served", () => {
  it("is all known after a restart, though it changed faster than it was written", async () => {
    const store = await createMemoryStore();
    const [a, b, c] = resources("a", "b", "c") as [Resource, Resource, Resource];
    const one = await serving(store, undefined, a);
    await waitFor("a revision", () => one.written() === 1);
    // All in one turn: none of it is written in between.
    one.goTo([b], [a]);
    one.goTo([c], [b]);
    await one.kept.close();
    const two = await serving(store, undefined, c);
    assert.deepEqual(namesIn(two.resumed), ["b", "a"]);
    await two.kept.close();
  });

  it("shares a revision where it is of names of its own, or names nothing", async () => {
    const store = await createMemoryStore();
    const [a, b, c] = resources("a", "b", "c") as [Resource, Resource, Resource];
    const [first, second] = [1, 2].map((port) => createResource(loadAssignment("a", port))) as [Resource, Resource];
    const one = await serving(store, undefined, a);
    await waitFor("a revision", () => one.written() === 1);
    one.goTo([b, first]);
    one.goTo([c, second]);
    await one.kept.close();
    assert.equal((await store.head(layer))?.number, 2);
  });

  it("is known to the next process if it was killed before it was written", async (t) => {
    const path = await place(t);
    const store = await createMemoryStore();
    const [a, b, c] = resources("a", "b", "c") as [Resource, Resource, Resource];
    const { store: killed, kill } = killable(store);
    const one = await serving(killed, path, a);
    await waitFor("a revision", () => one.written() === 1);
    kill();
    one.goTo([b], [a]);
    one.goTo([c], [b]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // The last line was cut off.
    await appendFile(path, "abc {");
    const two = await serving(store, path, a);
    assert.deepEqual([namesIn(two.resumed), two.problems], [["c", "b", "a"], []]);
    await two.kept.close();
    assert.equal(statSync(path).size, 0);
  });

  it("is kept before a rollback that is made while the next process reads it", async (t) => {
    const path = await place(t);
    const store = await createMemoryStore();
    const [a, b, c] = resources("a", "b", "c") as [Resource, Resource, Resource];
    const { store: killed, kill } = killable(store);
    const one = await serving(killed, path, a);
    await waitFor("a revision", () => one.written() === 1);
    one.goTo([b], [a]);
    await waitFor("a revision", () => one.written() === 2);
    kill();
    one.goTo([c], [b]);
    const [, first] = await store.history(layer, { limit: 2 });
    const to = first?.id ?? "";
    const two = sourceOf(store, path, c);
    const [isRead, mayGoOn] = [deferred(), deferred()];
    const head = store.head.bind(store);
    store.head = async (of) => {
      store.head = head;
      const found = await head(of);
      isRead.resolve();
      await mayGoOn.promise;
      return found;
    };
    const started = two.start();
    await isRead.promise;
    const info = { author: "me", cause: { kind: "rollback", to }, message: "", time: 2 } as const;
    const rolledBack = two.kept.rollBack(layer, to, { info, expected: undefined });
    await sleep(50);
    mayGoOn.resolve();
    await Promise.all([started, rolledBack]);
    await two.kept.close();
    const history = await store.history(layer, { limit: 10 });
    const held = await Promise.all(history.map(async ({ id }) => (await store.read(id)).map(({ key }) => key).join()));
    assert.deepEqual(held.toReversed().slice(0, 4), ["a", "b", "c", "a"]);
  });

  it("is left ahead only until it is written", async (t) => {
    const path = await place(t);
    const store = await createMemoryStore();
    const [a, b] = resources("a", "b") as [Resource, Resource];
    const one = await serving(store, path, a);
    await waitFor("a revision", () => one.written() === 1);
    one.goTo([b], [a]);
    assert.ok(statSync(path).size > 0);
    await waitFor("an empty file", () => statSync(path).size === 0);
    assert.equal((await store.head(layer))?.number, 2);
    await one.kept.close();
  });

  it("is known as far as a slow store could say in time, the newest first", async () => {
    const store = await createMemoryStore();
    const one = await serving(store, undefined, ...resources("r0"));
    for (let at = 0; at < 9; at += 1) one.goTo(resources(`r${at + 1}`), resources(`r${at}`));
    await one.kept.close();
    const changes = store.changes.bind(store);
    store.changes = async (id) => {
      await sleep(400);
      return changes(id);
    };
    const two = await serving(store, undefined, ...resources("r9"));
    const known = namesIn(two.resumed);
    assert.ok(known.length >= 1 && known.length < 9, known.join());
    assert.equal(known[0], "r8");
    await two.kept.close();
  });
});
