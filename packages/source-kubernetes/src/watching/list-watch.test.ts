import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import type { ObjectShape } from "../objects/object-shape.js";
import { type SpokenServer, spokenServer } from "../testing/spoken-server.js";
import { ListWatch } from "./list-watch.js";

interface Thing extends ObjectShape {
  readonly value?: string;
}

const thing = (name: string, version: number, value = "1"): Thing => ({
  metadata: { namespace: "n", name, resourceVersion: `${version}` },
  value,
});
const bookmark = (version: number, isEnd = false) => ({
  type: "BOOKMARK",
  object: {
    metadata: { resourceVersion: `${version}`, annotations: isEnd ? { "k8s.io/initial-events-end": "true" } : {} },
  },
});
const added = (object: Thing) => ({ type: "ADDED", object });
const gone = { type: "ERROR", object: { code: 410, message: "too old resource version: 7 (9)" } };

/** A watch of things, and what it told: `name=value`, `name gone`, `synced`, `failed: …`, `well`. */
function watching(test: TestContext, { connection }: SpokenServer, silenceMs?: number) {
  const told: string[] = [];
  let failure = "";
  const watch = new ListWatch<string>({
    connection,
    path: "/things",
    labelSelector: "a=b",
    silenceMs,
    read: (object) => (object as Thing).value,
    objectChanged: (key, _, value) => void told.push(value === undefined ? `${key} gone` : `${key}=${value}`),
    synced: () => void told.push("synced"),
    failed(error) {
      if (failure === (error?.message ?? "")) return;
      failure = error?.message ?? "";
      told.push(error === undefined ? "well" : `failed: ${failure}`);
    },
  });
  test.after(() => watch.close());
  const heard = async (...expected: readonly string[]) => {
    await waitFor(`${expected}, not ${told}`, () => told.length >= expected.length);
    assert.deepEqual(told.splice(0), expected);
  };
  return { watch, heard };
}

describe("a watch", () => {
  it("begins with all that there is, tells changes of the content, and goes on where it ended", async (t) => {
    const server = await spokenServer(t);
    const { watch, heard } = watching(t, server);
    const first = await server.asked();
    assert.equal(first.path, "/things");
    assert.equal(first.query.get("sendInitialEvents"), "true");
    assert.equal(first.query.get("labelSelector"), "a=b");
    assert.equal(first.query.get("resourceVersion"), null);
    for (const name of ["a", "b"]) first.say(added(thing(name, 3)));
    assert.equal(watch.heardAt, undefined);
    first.say(bookmark(5, true));
    await heard("n/a=1", "n/b=1", "synced");
    assert.ok(watch.heardAt !== undefined);
    first.say({ type: "MODIFIED", object: thing("a", 6, "2") });
    first.say({ type: "MODIFIED", object: thing("a", 7, "2") });
    first.say({ type: "DELETED", object: thing("b", 8) });
    await heard("n/a=2", "n/b gone");
    first.say(bookmark(12));
    first.end();
    const second = await server.asked();
    assert.equal(second.query.get("resourceVersion"), "12");
    assert.equal(second.query.get("sendInitialEvents"), null);
    second.say(added(thing("c", 13)));
    await heard("n/c=1");
    second.cut();
    const third = await server.asked();
    assert.equal(third.query.get("resourceVersion"), "13");
    third.cut();
    const fourth = await server.asked();
    await heard("failed: socket hang up");
    fourth.say(bookmark(13));
    await heard("well");
  });

  it("finds by comparing what it has missed, if the server has forgotten where it was", async (t) => {
    const server = await spokenServer(t);
    const { heard } = watching(t, server);
    const first = await server.asked();
    for (const name of ["a", "b"]) first.say(added(thing(name, 3)));
    first.say(bookmark(5, true));
    await heard("n/a=1", "n/b=1", "synced");
    first.say(gone);
    const second = await server.asked();
    assert.equal(second.query.get("sendInitialEvents"), "true");
    for (const object of [thing("a", 3), thing("c", 8)]) second.say(added(object));
    second.say(bookmark(9, true));
    await heard("n/b gone", "n/c=1", "synced");
    // The same said by the status of the answer.
    second.end();
    (await server.asked()).end(410, { message: "too old" });
    const last = await server.asked();
    assert.equal(last.query.get("sendInitialEvents"), "true");
    last.say(bookmark(9, true));
    await heard("n/a gone", "n/c gone", "synced");
  });

  it("reads lists in pages from a server that does not begin a watch with what there is", async (t) => {
    const server = await spokenServer(t);
    const { heard } = watching(t, server);
    (await server.asked()).end(422, { message: "sendInitialEvents is forbidden" });
    const first = await server.asked();
    assert.equal(first.query.get("watch"), null);
    first.end(200, { metadata: { resourceVersion: "9", continue: "more" }, items: [thing("a", 1)] });
    const second = await server.asked();
    assert.equal(second.query.get("continue"), "more");
    // The page is of a state that is gone: all is read again.
    second.end(410, { message: "the provided continue parameter is too old" });
    await heard("failed: the provided continue parameter is too old");
    const again = await server.asked();
    assert.equal(again.query.get("continue"), null);
    again.end(200, { metadata: { resourceVersion: "11" }, items: [thing("b", 1)] });
    await heard("n/b=1", "well", "synced");
    const watch = await server.asked();
    assert.equal(watch.query.get("resourceVersion"), "11");
    assert.equal(watch.query.get("allowWatchBookmarks"), "true");
  });

  it("does so, too, where the server begins such a watch, and then says that its etcd is too old", async (t) => {
    const server = await spokenServer(t);
    const { heard } = watching(t, server);
    const message = "the required storage feature RequestWatchProgress is disabled";
    (await server.asked()).say({ type: "ERROR", object: { code: 500, message } });
    const list = await server.asked();
    assert.equal(list.query.get("watch"), null);
    list.end(200, { metadata: { resourceVersion: "4" }, items: [thing("a", 1)] });
    await heard("n/a=1", "synced");
  });

  it("does so, too, where the server takes no notice of the wish", async (t) => {
    const server = await spokenServer(t);
    const { heard } = watching(t, server, 200);
    const first = await server.asked();
    first.say(added(thing("a", 1)));
    const list = await server.asked();
    assert.ok(first.isClosed);
    assert.equal(list.query.get("limit"), "500");
    list.end(200, { metadata: { resourceVersion: "4" }, items: [thing("a", 1)] });
    await heard("n/a=1", "synced");
  });

  it("that is silent is replaced by one that goes on from there", async (t) => {
    const server = await spokenServer(t);
    const { watch, heard } = watching(t, server, 200);
    const first = await server.asked();
    first.say(bookmark(5, true));
    await heard("synced");
    const before = watch.heardAt ?? 0;
    const second = await server.asked();
    assert.equal(second.query.get("resourceVersion"), "5");
    assert.ok(first.isClosed);
    assert.equal(watch.heardAt, before);
    second.say(added(thing("a", 6)));
    await heard("n/a=1");
    assert.ok((watch.heardAt ?? 0) > before);
  });

  it("that is refused says why, keeps what it knows, and tries again with what is on disk by then", async (t) => {
    let token = "old";
    const server = await spokenServer(t, () => token);
    const { heard } = watching(t, server);
    const first = await server.asked();
    assert.equal(first.authorization, "Bearer old");
    first.say(added(thing("a", 1)));
    first.say(bookmark(5, true));
    await heard("n/a=1", "synced");
    first.end();
    (await server.asked()).end(403, { message: 'things is forbidden: User "u" cannot watch' });
    await heard('failed: things is forbidden: User "u" cannot watch');
    token = "new";
    const second = await server.asked();
    assert.equal(second.authorization, "Bearer new");
    second.say(added(thing("a", 1)));
    await heard("well");
  });

  it("that is refused waits longer each time, by chance, and as long as the server wants", async (t) => {
    let chance = 0;
    t.mock.method(Math, "random", () => chance);
    const server = await spokenServer(t);
    watching(t, server);
    let asked = await server.asked();
    /** The time until it asks again. */
    const waited = async (by: number, headers?: Readonly<Record<string, string>>) => {
      chance = by;
      const since = performance.now();
      asked.end(503, { message: "not now" }, headers);
      asked = await server.asked();
      return performance.now() - since;
    };
    // Timers may ring a little early.
    const atLeast = async (ms: number, wait: Promise<number>) => assert.ok((await wait) > ms - 5, `${ms} ms`);
    await atLeast(250, waited(0));
    await atLeast(1_000, waited(1));
    await atLeast(2_000, waited(0, { "retry-after": "2" }));
  });
});
