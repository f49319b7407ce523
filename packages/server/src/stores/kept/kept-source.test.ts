import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createResource,
  deferred,
  envoyRegistry,
  type Finding,
  type Resource,
  resourceTypes,
  XdskitError,
} from "@xdskit/api";
import { createLayers } from "../../configuration/layers.js";
import type { LayerUpdate, Source, SourceSink, StepBack } from "../../contracts/source.js";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { cluster } from "../../testing/test-resources.js";
import { decodeStored, encodeStored } from "../history/stored-content.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { KeptSource } from "./kept-source.js";

const layer = "a";
const reading = { types: resourceTypes, registry: envoyRegistry() };
const wrong: Finding = { code: "XDSKIT_SYNTAX", severity: "error", message: "wrong" };

/** A source that a test plays, and all that a kept source makes of it. */
class Played {
  readonly applied: (readonly LayerUpdate[])[] = [];
  /** What each change was to be judged by. */
  readonly since: (readonly LayerUpdate[] | undefined)[] = [];
  readonly restored: Revision[] = [];
  readonly resumed: StepBack[] = [];
  readonly problems: Finding[] = [];
  readonly revisions: Revision[] = [];
  readonly store: Store;
  readonly kept: KeptSource;
  isGood = true;
  ended = 0;
  describe: (() => never) | undefined;
  #inner: SourceSink | undefined;
  /** What it says before it is started: a kept source reads its store first. */
  readonly #early: ((inner: SourceSink) => void)[] = [];
  #valid: () => void = () => {};

  constructor(store: Store, time = 1, layers: readonly string[] = [layer]) {
    this.store = store;
    const source: Source = {
      name: "played",
      start: (sink) => {
        this.#inner = sink;
        const valid = new Promise<void>((resolve) => {
          this.#valid = resolve;
        });
        for (const say of this.#early) say(sink);
        return valid;
      },
      close: async () => {},
    };
    const info = { author: "me", cause: { kind: "source", source: "played" }, message: "", time } as const;
    this.kept = new KeptSource({
      source,
      store,
      layers,
      ...reading,
      retention: { revisions: 100, since: 0 },
      describe: () => this.describe?.() ?? (this.isGood ? info : undefined),
      onRestored: (revisions) => this.restored.push(...revisions),
      onRevision: (revision) => this.revisions.push(revision),
      onProblem: (findings) => this.problems.push(...findings),
    });
  }

  start(): Promise<void> {
    return this.kept.start({
      apply: (updates, { since } = {}) => {
        this.applied.push(updates);
        this.since.push(since);
      },
      resume: (steps) => void this.resumed.push(...steps),
      report: () => {},
      ended: () => {
        this.ended += 1;
      },
    });
  }

  set(kind: LayerUpdate["kind"], ...upsert: readonly Resource[]): void {
    this.#say((inner) => {
      inner.apply([{ layer, kind, upsert }]);
      this.#valid();
    });
  }

  /** As `set`, for a source that waits for what it is judged by. */
  async begin(...upsert: readonly Resource[]): Promise<void> {
    await new Promise<void>((prepared) => {
      this.#say((inner) => void inner.prepare?.([{ layer, kind: "replace", upsert }]).then(prepared));
    });
    this.set("replace", ...upsert);
  }

  fail(): void {
    this.report([wrong]);
  }

  report(findings: readonly Finding[]): void {
    this.#say((inner) => inner.report(findings));
  }

  #say(say: (inner: SourceSink) => void): void {
    if (this.#inner === undefined) this.#early.push(say);
    else say(this.#inner);
  }

  async held(): Promise<readonly string[]> {
    const head = await this.store.head(layer);
    const stored = head === undefined ? [] : await this.store.read(head.id);
    return stored.map((one) => decodeStored(one, reading)).map(({ name, version }) => `${name} ${version}`);
  }
}

/** Resolves once the layer has this many revisions. */
async function hasHead(store: Store, number = 1): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if ((await store.head(layer))?.number === number) return;
    await new Promise((turn) => setTimeout(turn, 10));
  }
  assert.fail("no revision came");
}

const one = createResource(cluster("one"));
const two = createResource(cluster("two"));
const shown = ({ name, version }: Resource) => `${name} ${version}`;

async function storeWith(...resources: readonly Resource[]): Promise<Store> {
  const played = new Played(await createMemoryStore());
  const started = played.start();
  played.set("replace", ...resources);
  await started;
  await played.kept.close();
  return played.store;
}

describe("a kept source", () => {
  it("passes changes on at once, and keeps them afterwards", async () => {
    const played = new Played(await createMemoryStore());
    const started = played.start();
    played.set("replace", one);
    await started;
    assert.equal(played.applied.length, 1);
    played.set("patch", two);
    assert.equal(played.applied.length, 2);
    await played.kept.close();
    assert.deepEqual([...(await played.held())].sort(), [one, two].map(shown).sort());
    assert.deepEqual(played.problems, []);
  });

  it("serves the last good revision if the source has errors, until it has none", async () => {
    const played = new Played(await storeWith(one, two));
    const started = played.start();
    played.fail();
    await started;
    const [[update] = []] = played.applied;
    assert.equal(update?.kind, "replace");
    assert.deepEqual(update.upsert.map(shown).sort(), [one, two].map(shown).sort());
    assert.equal(played.restored.length, 1);
    played.fail();
    played.set("replace", two);
    await played.kept.close();
    assert.equal(played.applied.length, 2);
    assert.deepEqual(await played.held(), [shown(two)]);
  });

  it("says what it had before if it starts with something else, and reads only what it does not have", async () => {
    const three = createResource(cluster("three"));
    for (const [now, read, isSame] of [
      [[two, one], [], true],
      [[one, two, three], [], false],
      [[one, three], ["two"], false],
      [[three], ["one", "two"], false],
    ] as const) {
      const played = new Played(await storeWith(one, two));
      const { store } = played;
      const content = store.content.bind(store);
      const asked: string[] = [];
      store.read = () => assert.fail("all of it is read");
      store.content = (type, key, version) => {
        asked.push(key);
        return content(type, key, version);
      };
      const started = played.start();
      await played.begin(...now);
      assert.deepEqual(asked.sort(), read);
      const before = played.since[0]?.map(({ kind, upsert }) => [kind, ...upsert.map(shown).sort()]);
      assert.deepEqual(before, isSame ? undefined : [["replace", ...[one, two].map(shown).sort()]]);
      played.set("patch", one);
      assert.equal(played.since[1], undefined);
      await started;
      await played.kept.close();
    }
  });

  it("says nothing of before if its store cannot be read", async () => {
    const played = new Played(await storeWith(one, two));
    played.store.versions = () => Promise.reject(XdskitError.of("XDSKIT_STORE", "it is away"));
    const started = played.start();
    await played.begin(one);
    await started;
    assert.deepEqual([played.applied.length, played.since], [1, [undefined]]);
    assert.deepEqual(
      played.problems.map(({ code }) => code),
      ["XDSKIT_STORE"],
    );
    await played.kept.close();
  });

  it("serves no revision where the source becomes valid while it is read", async () => {
    const played = new Played(await storeWith(one));
    const started = played.start();
    played.fail();
    played.set("replace", two);
    await started;
    await played.kept.close();
    assert.deepEqual(await played.held(), [shown(two)]);
    assert.equal(played.applied.length, 1);
    assert.deepEqual(played.restored, []);
  });

  it("reports its last served content, and its content now", async () => {
    const changed = createResource(cluster("one", "changed"));
    const added = createResource(cluster("added"));
    const played = new Played(await storeWith(one, two));
    const started = played.start();
    played.set("replace", changed, added);
    await started;
    const [step, ...further] = played.resumed;
    assert.deepEqual(further, []);
    const [back] = step?.back ?? [];
    const [forward] = step?.forward ?? [];
    assert.deepEqual(back?.upsert.map(shown).sort(), [one, two].map(shown).sort());
    assert.deepEqual(back?.remove?.map(({ name }) => name).sort(), ["added", "one"]);
    assert.deepEqual(forward?.upsert.map(shown).sort(), [changed, added].map(shown).sort());
    assert.deepEqual(forward?.remove?.map(({ name }) => name).sort(), ["one", "two"]);
  });

  it("reports its earlier contents step by step, whether this start changed something or not", async () => {
    const states = [[one], [one, two], [two], [createResource(cluster("two", "changed"))]] as const;
    const store = await storeWith(...(states[0] ?? []));
    for (const state of [...states.slice(1), states[3]]) {
      const played = new Played(store, 1 + (await store.history(layer, { limit: 100 })).length);
      const started = played.start();
      played.set("replace", ...state);
      await started;
      await played.kept.close();
      const index = states.indexOf(state);
      const expected = states.slice(0, index).reverse();
      const layers = createLayers();
      layers.apply([{ layer, kind: "replace", upsert: state }]);
      const holds = () => [...(layers.get(layer)?.of(one.type) ?? [])].map(shown).sort();
      for (const [back, { back: updates }] of played.resumed.entries()) {
        layers.apply(updates);
        assert.deepEqual(holds(), [...(expected[back] ?? [])].map(shown).sort());
      }
      assert.equal(played.resumed.length, expected.length);
      for (const { forward } of [...played.resumed].reverse()) layers.apply(forward);
      assert.deepEqual(holds(), [...state].map(shown).sort());
    }
  });

  it("reports its earlier contents where the source changes again while they are read", async () => {
    const played = new Played(await storeWith(one), 2);
    const changed = createResource(cluster("one", "changed"));
    const commit = played.store.commit.bind(played.store);
    let commits = 0;
    played.store.commit = async (...said) => {
      commits += 1;
      const done = await commit(...said);
      if (commits === 1) played.set("patch", two);
      return done;
    };
    const history = played.store.history.bind(played.store);
    let looks = 0;
    played.store.history = async (...asked) => {
      looks += 1;
      if (looks === 1) played.set("patch", createResource(cluster("three")));
      return history(...asked);
    };
    const started = played.start();
    played.set("replace", changed);
    await started;
    const layers = createLayers();
    for (const updates of played.applied) layers.apply(updates);
    const holds = () => [...(layers.get(layer)?.of(one.type) ?? [])].map(shown).sort();
    const served = holds();
    for (const { back } of played.resumed) layers.apply(back);
    assert.deepEqual(holds(), [shown(one)]);
    for (const { forward } of [...played.resumed].reverse()) layers.apply(forward);
    assert.deepEqual(holds(), served);
    assert.equal(served.length, 3);
    await played.kept.close();
  });

  it("reports no earlier content if there was none", async () => {
    for (const store of [await createMemoryStore(), await storeWith(one)]) {
      const played = new Played(store);
      const started = played.start();
      played.set("replace", one);
      await started;
      assert.deepEqual(played.resumed, []);
    }
  });

  it("waits for the source where there is no revision of its layers", async () => {
    const played = new Played(await createMemoryStore());
    await played.store.commit([{ layer: "other", parent: undefined, kind: "patch", upsert: [encodeStored(one)] }], {
      author: "",
      cause: { kind: "api", caller: "" },
      message: "",
      time: 1,
    });
    let isStarted = false;
    const started = played.start().then(() => {
      isStarted = true;
    });
    played.fail();
    await new Promise((turn) => setTimeout(turn, 20));
    assert.equal(isStarted, false);
    played.set("replace", one);
    await started;
    await played.kept.close();
  });

  it("does not serve a part of its layers, if others of them have no revision", async () => {
    const played = new Played(await storeWith(one), 2, [layer, "b"]);
    let isStarted = false;
    const started = played.start().then(() => {
      isStarted = true;
    });
    played.fail();
    await new Promise((turn) => setTimeout(turn, 20));
    assert.deepEqual([isStarted, played.applied, played.restored], [false, [], []]);
    played.set("replace", two);
    await started;
    await played.kept.close();
  });

  it("stores nothing of a bad configuration, and everything once it is good", async () => {
    const played = new Played(await createMemoryStore());
    played.isGood = false;
    const started = played.start();
    played.set("replace", one);
    await started;
    await new Promise((turn) => setTimeout(turn, 20));
    assert.deepEqual(await played.store.heads(), []);
    played.isGood = true;
    played.set("patch", two);
    await played.kept.close();
    assert.deepEqual([...(await played.held())].sort(), [one, two].map(shown).sort());
  });

  it("goes on if the store cannot be written, and says so", async () => {
    const store = await createMemoryStore();
    store.commit = () => Promise.reject(XdskitError.of("XDSKIT_STORE", "the disk is full"));
    const played = new Played(store);
    const started = played.start();
    played.set("replace", one);
    await started;
    await waitFor("a problem is told", () => played.problems.length > 0);
    await played.kept.close();
    assert.deepEqual(
      played.problems.map(({ message }) => message),
      // The last one as it closes.
      ["the disk is full", "the disk is full"],
    );
  });

  it("keeps a change that could not be written with the next one, never without it", async () => {
    const played = new Played(await createMemoryStore());
    const started = played.start();
    played.set("replace", one);
    await started;
    await hasHead(played.store);
    const commit = played.store.commit.bind(played.store);
    played.store.commit = () => Promise.reject(XdskitError.of("XDSKIT_STORE", "the disk is full"));
    played.set("patch", two);
    await new Promise((turn) => setTimeout(turn, 20));
    played.store.commit = commit;
    const third = createResource(cluster("three"));
    played.set("patch", third);
    await played.kept.close();
    assert.deepEqual([...(await played.held())].sort(), [one, two, third].map(shown).sort());
    assert.equal((await played.store.history(layer, { limit: 10 })).length, 2);
  });

  it("goes on if nothing can be said of a change, and stores it later", async () => {
    const played = new Played(await createMemoryStore());
    const started = played.start();
    played.set("replace", one);
    await started;
    await hasHead(played.store);
    played.describe = () => {
      throw new Error("no word");
    };
    played.set("patch", two);
    await waitFor("a problem is told", () => played.problems.length > 0);
    assert.deepEqual(
      played.problems.map(({ message }) => message),
      ["no word"],
    );
    played.describe = undefined;
    await played.kept.close();
    assert.deepEqual([...(await played.held())].sort(), [one, two].map(shown).sort());
  });

  for (const isFirst of [true, false])
    it(`starts while the disk hangs${isFirst ? " at its first revision" : ""}`, { timeout: 10_000 }, async () => {
      const store = isFirst ? await createMemoryStore() : await storeWith(one);
      const played = new Played(store, 2);
      const commit = store.commit.bind(store);
      let goOn: () => void = () => {};
      const hanging = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      store.commit = async (...said) => {
        await hanging;
        return commit(...said);
      };
      const started = played.start();
      played.set("replace", two);
      await started;
      goOn();
      await played.kept.close();
      assert.deepEqual([played.resumed, await played.held()], [[], [shown(two)]]);
    });

  it("stores a configuration that became good without a change", async () => {
    const played = new Played(await createMemoryStore());
    played.isGood = false;
    const started = played.start();
    played.set("replace", one);
    await started;
    await new Promise((turn) => setTimeout(turn, 20));
    played.isGood = true;
    played.report([]);
    await new Promise((turn) => setTimeout(turn, 20));
    assert.deepEqual(await played.held(), [shown(one)]);
    await played.kept.close();
  });

  it("gives way to another writer of its layer, and keeps its change", async () => {
    const played = new Played(await createMemoryStore());
    const other = createResource(cluster("other"));
    const info = { author: "", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;
    const commit = played.store.commit.bind(played.store);
    let raced = false;
    played.store.commit = async (layers, said) => {
      if (!raced) {
        raced = true;
        await commit([{ layer, parent: undefined, kind: "patch", upsert: [encodeStored(other)] }], info);
      }
      return commit(layers, said);
    };
    const started = played.start();
    played.set("replace", one);
    await started;
    await played.kept.close();
    assert.deepEqual(await played.held(), [shown(one)]);
    assert.equal((await played.store.history(layer, { limit: 10 })).length, 2);
  });
});

describe("a kept source that is closed while it starts", () => {
  it("has read all that it reads, so that its store may be closed then", async () => {
    const store = await storeWith(one);
    const reading = deferred();
    const heads = store.heads.bind(store);
    store.heads = async () => {
      await reading.promise;
      return heads();
    };
    const played = new Played(store, 2);
    const started = assert.rejects(played.start(), /was closed while it started$/);
    let isClosed = false;
    const closed = played.kept.close().then(() => {
      isClosed = true;
    });
    await sleep(50);
    assert.equal(isClosed, false);
    reading.resolve();
    await Promise.all([started, closed]);
  });
});

describe("a kept source that is paused", () => {
  it("commits nothing until it goes on, and then commits all that came meanwhile", async () => {
    const store = await storeWith(one);
    const played = new Played(store, 2);
    const started = played.start();
    played.set("replace", one);
    await started;
    const goOn = await played.kept.pause();
    played.set("patch", two);
    assert.deepEqual(played.applied.at(-1)?.[0]?.upsert.map(shown), [shown(two)]);
    const head = await store.head(layer);
    assert.equal(head?.number, 1);
    const info = { author: "me", cause: { kind: "rollback", to: head.id }, message: "", time: 3 } as const;
    await assert.rejects(played.kept.rollBack(layer, head.id, { info, expected: undefined }), { code: "XDSKIT_BUSY" });
    goOn();
    await hasHead(store, 2);
    await played.kept.close();
    assert.deepEqual((await played.held()).toSorted(), [shown(one), shown(two)]);
  });

  it("commits nothing when it is closed, so that the source in its place has the newest revision", async () => {
    const played = new Played(await storeWith(one), 2);
    const started = played.start();
    played.set("replace", one);
    await started;
    await played.kept.pause();
    played.set("replace", two);
    assert.equal(played.ended, 0);
    await played.kept.close();
    assert.equal(played.ended, 1);
    assert.deepEqual(await played.held(), [shown(one)]);
  });

  it("has committed its changes from before the pause", async () => {
    const played = new Played(await storeWith(one), 2);
    const started = played.start();
    played.set("replace", one);
    await started;
    played.set("replace", two);
    await played.kept.pause();
    assert.deepEqual(await played.held(), [shown(two)]);
    await played.kept.close();
  });
});

describe("a rollback", () => {
  it("is reported as a revision even if the source is faster, since it is in the history", async () => {
    const store = await storeWith(one);
    const played = new Played(store, 2);
    const started = played.start();
    played.set("replace", two);
    await started;
    await hasHead(store, 2);
    const [, older] = await store.history(layer, { limit: 2 });
    const commit = store.commit.bind(store);
    store.commit = async (...said) => {
      const done = await commit(...said);
      store.commit = commit;
      played.set("patch", createResource(cluster("three")));
      return done;
    };
    const info = { author: "me", cause: { kind: "rollback", to: older?.id ?? "" }, message: "", time: 3 } as const;
    const { kind } = await played.kept.rollBack(layer, older?.id ?? "", { info, expected: undefined });
    assert.equal(kind, "conflict");
    await hasHead(store, 4);
    await played.kept.close();
    const told = played.revisions.map(({ number, cause }) => [number, cause.kind]);
    assert.deepEqual(told, [
      [2, "source"],
      [3, "rollback"],
      [4, "source"],
    ]);
  });

  it("is not made if its condition throws in its turn", async () => {
    const store = await storeWith(one);
    const played = new Played(store, 2);
    const started = played.start();
    played.set("replace", two);
    await started;
    await hasHead(store, 2);
    const [, older] = await store.history(layer, { limit: 2 });
    const info = { author: "me", cause: { kind: "rollback", to: older?.id ?? "" }, message: "", time: 3 } as const;
    const condition = () => {
      throw new Error("not now");
    };
    await assert.rejects(played.kept.rollBack(layer, older?.id ?? "", { info, condition, expected: undefined }), {
      message: "not now",
    });
    await played.kept.close();
    assert.equal((await store.head(layer))?.number, 2);
  });

  it("holds while the source says again what it has, and ends with something else", async () => {
    const store = await storeWith(one);
    const played = new Played(store, 2);
    const started = played.start();
    played.set("replace", one, two);
    await started;
    await hasHead(store, 2);
    const [, older] = await store.history(layer, { limit: 2 });
    const info = { author: "me", cause: { kind: "rollback", to: older?.id ?? "" }, message: "", time: 3 } as const;
    await played.kept.rollBack(layer, older?.id ?? "", { info, expected: undefined });
    played.set("patch", two);
    assert.equal(played.kept.rolledBack.length, 1);
    assert.deepEqual(played.applied.at(-1), [{ layer, kind: "patch", upsert: [], remove: [] }]);
    const three = createResource(cluster("three"));
    played.set("patch", three);
    assert.deepEqual(played.kept.rolledBack, []);
    await played.kept.close();
    assert.deepEqual((await played.held()).toSorted(), [one, two, three].map(shown).toSorted());
  });

  it("holds if it is made while the source starts with what it had", async () => {
    const store = await storeWith(one);
    const first = new Played(store, 2);
    const startedFirst = first.start();
    first.set("replace", two);
    await startedFirst;
    await first.kept.close();
    const [, older] = await store.history(layer, { limit: 2 });
    const played = new Played(store, 3);
    const started = played.start();
    await sleep(10);
    const info = { author: "me", cause: { kind: "rollback", to: older?.id ?? "" }, message: "", time: 3 } as const;
    await played.kept.rollBack(layer, older?.id ?? "", { info, expected: undefined });
    played.set("replace", two);
    await started;
    assert.deepEqual(played.applied.at(-1)?.[0]?.upsert.map(shown), [shown(one)]);
    assert.equal(played.kept.rolledBack.length, 1);
    await played.kept.close();
    assert.deepEqual(await played.held(), [shown(one)]);
  });

  it("is the newest one if another one was in force before the start", async () => {
    const store = await storeWith(one);
    const three = createResource(cluster("three"));
    const first = new Played(store, 2);
    const startedFirst = first.start();
    first.set("replace", two);
    await startedFirst;
    first.set("replace", three);
    await hasHead(store, 3);
    const [, second, oldest] = await store.history(layer, { limit: 3 });
    const to = (id = "") =>
      ({ info: { author: "me", cause: { kind: "rollback", to: id }, message: "", time: 3 } }) as const;
    await first.kept.rollBack(layer, oldest?.id ?? "", { ...to(oldest?.id), expected: undefined });
    await first.kept.close();

    const played = new Played(store, 4);
    const started = played.start();
    await sleep(10);
    await played.kept.rollBack(layer, second?.id ?? "", { ...to(second?.id), expected: undefined });
    played.set("replace", three);
    await started;
    assert.deepEqual(played.applied.at(-1)?.[0]?.upsert.map(shown), [shown(two)]);
    await played.kept.close();
    assert.deepEqual(await played.held(), [shown(two)]);
  });

  it("is over after a restart if the source changed to the served content", async () => {
    const store = await storeWith(one);
    const played = new Played(store, 2);
    const started = played.start();
    played.set("replace", two);
    await started;
    await hasHead(played.store, 2);
    const [, older] = await store.history(layer, { limit: 2 });
    const info = { author: "me", cause: { kind: "rollback", to: older?.id ?? "" }, message: "", time: 3 } as const;
    assert.equal((await played.kept.rollBack(layer, older?.id ?? "", { info, expected: undefined })).kind, "written");
    played.set("replace", one);
    assert.deepEqual(played.kept.rolledBack, []);
    await played.kept.close();
    assert.equal((await store.head(layer))?.cause.kind, "source");

    const again = new Played(store, 4);
    const startedAgain = again.start();
    again.set("replace", two);
    await startedAgain;
    assert.deepEqual(again.applied.at(-1)?.[0]?.upsert.map(shown), [shown(two)]);
    assert.deepEqual(again.kept.rolledBack, []);
    await again.kept.close();
  });
});

describe("a stored resource", () => {
  it("comes back with its version, whatever it has", () => {
    const constraints = { kind: "value", key: "env", value: "prod" } as const;
    for (const options of [{}, { aliases: ["x", "y"] }, { ttl: 1_500 }, { ttl: 0.5 }, { constraints }]) {
      const resource = createResource(cluster("one", "content"), options);
      const back = decodeStored(encodeStored(resource), reading);
      const { type, name, key, version, ttl, aliases } = resource;
      assert.deepEqual({ type, name, key, version, ttl, aliases }, { ...pick(back) });
    }
  });

  it("is refused with its name if its type is not known any more", () => {
    const stored = { ...encodeStored(one), type: "type.googleapis.com/a.b.Gone" };
    assert.throws(() => decodeStored(stored, reading), { code: "XDSKIT_TYPE_UNKNOWN", message: /"one"/ });
  });
});

function pick({ type, name, key, version, ttl, aliases }: Resource): object {
  return { type, name, key, version, ttl, aliases };
}
