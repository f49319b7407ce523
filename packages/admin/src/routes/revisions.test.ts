import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createMemoryStore, encodeStored, type Revision } from "@xdskit/server";
import { cluster, runningApi } from "../testing/running-api.js";

const resource = (name: string, seconds = 1) =>
  createResource(create(ClusterSchema, { name, connectTimeout: { seconds: BigInt(seconds) } }));

/** The revisions of a layer, the newest first, once there are this many. */
async function history(api: Awaited<ReturnType<typeof runningApi>>, layer: string, count: number) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { revisions } = (await api.ask("GET", `revisions?layer=${layer}`)).body;
    if (revisions.length >= count) return revisions;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("no revision came");
}

describe("revisions", () => {
  it("are listed over all layers, the newest first, page by page", async () => {
    await using api = await runningApi();
    for (let index = 0; index < 4; index += 1) {
      for (const layer of ["api", "under"])
        await api.ask("POST", `layers/${layer}/changes`, { upsert: [cluster(`c${index}`)] });
    }
    await history(api, "folder", 1);
    const all = (await api.ask("GET", "revisions")).body.revisions;
    assert.equal(all.length, 9);
    const times = all.map(({ time }: { time: string }) => time);
    assert.deepEqual(times, [...times].sort().reverse());
    const found: string[] = [];
    let after = "";
    for (let page = 0; page < 10; page += 1) {
      const { body } = await api.ask("GET", `revisions?limit=2${after}`);
      found.push(...body.revisions.map(({ id }: { id: string }) => id));
      if (body.next === undefined) break;
      after = `&after=${body.next}`;
    }
    assert.deepEqual(
      found,
      all.map(({ id }: { id: string }) => id),
    );
    assert.equal((await api.ask("GET", "revisions?layer=none")).status, 404);
    assert.equal((await api.ask("GET", "revisions/none")).status, 404);
  });

  it("of a layer are listed by number, and none is lost on a page, whatever the clocks of its writers say", async () => {
    const store = await createMemoryStore();
    // Older versions of the store took the time that a writer said.
    const timesOf: Readonly<Record<string, readonly number[]>> = { api: [1_500, 100, 900], under: [1_000, 2_000, 50] };
    const written = (revision: Revision) => ({
      ...revision,
      time: timesOf[revision.layer]?.[revision.number - 1] ?? revision.time,
    });
    const read = store.history.bind(store);
    store.history = async (...asked) => (await read(...asked)).map(written);
    await using api = await runningApi({ store });
    const said = { author: "me", cause: { kind: "api", caller: "" }, message: "" } as const;
    for (const index of [0, 1, 2]) {
      for (const layer of Object.keys(timesOf)) {
        const upsert = [encodeStored(resource(`c${index}`))];
        const parent = (await store.head(layer))?.id;
        await store.commit([{ layer, kind: "patch", upsert, parent }], { ...said, time: 1 });
      }
    }
    await history(api, "folder", 1);
    const pages = async (query: string) => {
      const found: string[] = [];
      for (let after = ""; found.length < 20; ) {
        const { body } = await api.ask("GET", `revisions?limit=1${query}${after}`);
        for (const { layer, number } of body.revisions) found.push(`${layer} ${number}`);
        if (body.next === undefined) break;
        after = `&after=${body.next}`;
      }
      return found;
    };
    assert.deepEqual(await pages("&layer=api"), ["api 3", "api 2", "api 1"]);
    const all = ["folder 1", "api 3", "api 2", "api 1", "under 3", "under 2", "under 1"];
    assert.deepEqual(await pages(""), all);
    const { revisions } = (await api.ask("GET", "revisions")).body;
    assert.deepEqual(
      revisions.map(({ layer, number }: Record<string, string>) => `${layer} ${number}`),
      all,
    );
  });

  it("are compared page by page, with the counts of all differences", async () => {
    await using api = await runningApi();
    const post = async (upsert: readonly object[]) =>
      (await api.ask("POST", "layers/api/changes", { upsert, replace: true })).body.revision.id;
    const first = await post([cluster("a"), cluster("b"), cluster("c")]);
    await post([cluster("b", "2s"), cluster("c"), cluster("d")]);
    const seen: string[] = [];
    let after = "";
    for (let page = 0; page < 3; page += 1) {
      const { body } = await api.ask("GET", `diff?from=${first}&limit=1&names=1${after}`);
      assert.deepEqual(body.counts, { added: 1, changed: 1, removed: 1 });
      assert.equal(body.stages.length, page === 0 ? 1 : 0);
      seen.push(...body.changes.map(({ change, name }: Record<string, string>) => `${change} ${name}`));
      assert.equal(body.next, page === 2 ? undefined : String(page + 1));
      after = `&after=${body.next}`;
    }
    assert.deepEqual(seen, ["removed a", "changed b", "added d"]);
    assert.equal((await api.ask("GET", `diff?from=${first}&after=no`)).status, 400);
  });

  it("are compared, with the stages from one to the other", async () => {
    await using api = await runningApi();
    const post = async (upsert: readonly object[]) =>
      (await api.ask("POST", "layers/api/changes", { upsert, replace: true })).body.revision.id;
    const first = await post([cluster("a"), cluster("b")]);
    const second = await post([cluster("b", "2s"), cluster("c")]);
    await post([]);
    const { body } = await api.ask("GET", `diff?from=${first}&to=${second}`);
    assert.deepEqual(
      body.changes.map(({ change, name }: Record<string, string>) => `${change} ${name}`),
      ["removed a", "changed b", "added c"],
    );
    assert.deepEqual(body.changes[1].before, cluster("b"));
    assert.deepEqual(body.changes[1].after, cluster("b", "2s"));
    assert.deepEqual(
      body.stages.map(({ group }: { group: string }) => group),
      ["all"],
    );
    assert.deepEqual(body.stages[0].stages[0].changes[0].added, ["c"]);
    const toHead = (await api.ask("GET", `diff?from=${second}`)).body;
    assert.equal(toHead.changes.length, 2);
    const [folder] = await history(api, "folder", 1);
    assert.equal((await api.ask("GET", `diff?from=${first}&to=${folder.id}`)).status, 409);
  });
});

describe("a rollback", () => {
  it("takes a layer of the API to its parent, or to a revision, and can be taken back itself", async () => {
    await using api = await runningApi();
    const post = async (name: string) =>
      (await api.ask("POST", "layers/api/changes", { upsert: [cluster(name)] })).body.revision;
    const names = async () =>
      (await api.ask("GET", "layers/api/resources")).body.resources.map(({ name }: { name: string }) => name);
    const first = await post("a");
    const second = await post("b");
    const back = await api.ask("POST", "layers/api/rollback", { message: "oh no" });
    assert.equal(back.status, 200, JSON.stringify(back.body));
    const { cause, message, parent, number } = back.body.revision;
    assert.deepEqual(
      { cause, message, parent, number },
      { cause: { kind: "rollback", to: first.id }, message: "oh no", parent: second.id, number: 3 },
    );
    assert.deepEqual(await names(), ["a"]);
    await api.ask("POST", "layers/api/rollback", { to: second.id });
    assert.deepEqual(await names(), ["a", "b"]);
    const none = await api.ask("POST", "layers/api/rollback", { to: "none" });
    assert.deepEqual([none.status, none.body.code], [404, "XDSKIT_REVISION_UNKNOWN"]);
    const late = await api.ask("POST", "layers/api/rollback", { to: first.id }, { "if-match": `"${first.id}"` });
    assert.equal(late.status, 412);
    const dry = await api.ask("POST", "layers/api/rollback", { to: first.id, dryRun: true });
    assert.deepEqual([dry.body.revision, dry.body.changed.length], [null, 1]);
    assert.deepEqual(await names(), ["a", "b"]);
  });

  it("does not take back a change that came in between", async () => {
    const store = await createMemoryStore();
    await using api = await runningApi({ store });
    const post = (name: string) => api.ask("POST", "layers/api/changes", { upsert: [cluster(name)] });
    await post("first");
    await post("mistake");
    const read = store.read.bind(store);
    let between: (() => Promise<unknown>) | undefined = () => post("good");
    store.read = async (id) => {
      const held = await read(id);
      const now = between;
      between = undefined;
      await now?.();
      return held;
    };
    const back = await api.ask("POST", "layers/api/rollback");
    assert.equal(back.status, 412, JSON.stringify(back.body));
    const { resources } = (await api.ask("GET", "layers/api/resources")).body;
    assert.deepEqual(
      resources.map(({ name }: { name: string }) => name),
      ["first", "good", "mistake"],
    );
  });

  for (const layer of ["api", "folder"]) {
    it(`of ${layer} reports its final changes, also those that came in between`, async () => {
      const store = await createMemoryStore();
      await using api = await runningApi({ store, folder: [resource("first")] });
      const change = async (...names: readonly string[]) => {
        if (layer === "folder") api.folder(...names.map((name) => resource(name)));
        else await api.ask("POST", "layers/api/changes", { upsert: names.map((name) => cluster(name)), replace: true });
      };
      await change("first");
      const [{ id: to }] = await history(api, layer, 1);
      await change("first", "second");
      await history(api, layer, 2);
      const read = store.read.bind(store);
      let reads = 0;
      store.read = async (id) => {
        const held = await read(id);
        // The first one is for the answer, and this one to make the rollback.
        if (id === to && ++reads === 2) await change("first", "second", "third");
        return held;
      };
      const { status, body } = await api.ask("POST", `layers/${layer}/rollback`, { to });
      assert.deepEqual([status, body.counts], [200, { added: 0, changed: 0, removed: 2 }]);
      assert.equal(body.revision.removed, 2);
    });
  }

  it("leaves a layer empty that has only one revision", async () => {
    await using api = await runningApi();
    assert.equal((await api.ask("POST", "layers/api/rollback")).status, 409);
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    const { body } = await api.ask("POST", "layers/api/rollback");
    assert.deepEqual([body.revision.removed, body.changed[0].change], [1, "removed"]);
  });

  it("holds in a source's layer until the source changes", async () => {
    await using api = await runningApi();
    const served = () =>
      [...(api.server.snapshotOf("all")?.of(resource("a").type) ?? [])].map(
        ({ name, version }) => `${name} ${version}`,
      );
    const shown = (...all: readonly ReturnType<typeof resource>[]) =>
      all.map(({ name, version }) => `${name} ${version}`);
    await history(api, "folder", 1);
    api.folder(resource("a"), resource("b"));
    await history(api, "folder", 2);
    api.folder(resource("a", 2), resource("b"));
    const [head, before] = await history(api, "folder", 3);
    const { status, body } = await api.ask("POST", "layers/folder/rollback");
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.revision.cause, { kind: "rollback", to: before.id });
    assert.equal(body.revision.parent, head.id);
    assert.deepEqual(served().sort(), shown(resource("a"), resource("b")).sort());
    assert.deepEqual(
      api.kept.rolledBack.map(({ layer, to }) => [layer, to]),
      [["folder", before.id]],
    );
    api.folder(resource("a", 2), resource("b"), resource("c"));
    assert.deepEqual(served().sort(), shown(resource("a", 2), resource("b"), resource("c")).sort());
    assert.deepEqual(api.kept.rolledBack, []);
    const [after] = await history(api, "folder", 5);
    assert.deepEqual([after.upserted, after.cause.kind], [2, "files"]);
  });
});

describe("a rollback of a source's layer", () => {
  const old = [resource("a"), resource("b")];
  const now = [resource("a", 2), resource("b"), resource("c")];

  /** A store in which the newest revision of the source's layer is a rollback, and the revision that it restored. */
  async function rolledBack() {
    const store = await createMemoryStore();
    await using api = await runningApi({ store, folder: old });
    await history(api, "folder", 1);
    api.folder(...now);
    await history(api, "folder", 2);
    assert.equal((await api.ask("POST", "layers/folder/rollback")).status, 200);
    return store;
  }

  it("holds across restarts while the source's content stays", async () => {
    const store = await rolledBack();
    for (let restart = 0; restart < 2; restart += 1) {
      await using api = await runningApi({ store, folder: now });
      const { resources } = (await api.ask("GET", "layers/folder/resources")).body;
      assert.deepEqual(
        resources.map(({ version }: { version: string }) => version),
        old.map(({ version }) => version),
      );
      assert.equal(api.kept.rolledBack.length, 1);
      assert.equal((await api.ask("GET", "revisions?layer=folder")).body.revisions.length, 3);
    }
    await using api = await runningApi({ store, folder: now });
    api.folder(...now, resource("d"));
    assert.equal((await api.ask("GET", "layers/folder/resources")).body.resources.length, 4);
    assert.deepEqual(api.kept.rolledBack, []);
  });

  it("is over if the source changed while the server was stopped", async () => {
    await using api = await runningApi({ store: await rolledBack(), folder: [...now, resource("d")] });
    assert.equal((await api.ask("GET", "layers/folder/resources")).body.resources.length, 4);
    assert.deepEqual(api.kept.rolledBack, []);
    await history(api, "folder", 4);
  });
});

describe("problems", () => {
  it("tell unknown paths, methods and layers apart", async () => {
    await using api = await runningApi({ store: await createMemoryStore() });
    const unknown = await api.ask("GET", "nothing");
    assert.deepEqual([unknown.status, unknown.body.code], [404, "XDSKIT_API_UNKNOWN"]);
    assert.equal(unknown.headers.get("content-type"), "application/problem+json");
    const method = await api.ask("PATCH", "layers");
    assert.deepEqual([method.status, method.headers.get("allow")], [405, "GET"]);
    const layer = await api.ask("GET", "layers/none/resources");
    assert.deepEqual([layer.status, layer.body.code], [404, "XDSKIT_LAYER_UNKNOWN"]);
    assert.match(layer.body.detail, /"folder", "api"/);
  });
});
