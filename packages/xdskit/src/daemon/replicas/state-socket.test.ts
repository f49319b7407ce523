import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createMemoryStore, type SharedKeys } from "@xdskit/server";
import { waitFor } from "../../../../grpc-server/src/testing/wait-for.js";
import { Replicas } from "./replicas.js";

/** A state folder, and the keys that its servers share. */
async function state(t: TestContext, below = "state") {
  const path = await mkdtemp(join(tmpdir(), "xdskit-state-"));
  const directory = join(path, below);
  await mkdir(directory, { mode: 0o700 });
  const store = await createMemoryStore();
  t.after(async () => {
    await store.close();
    await rm(path, { recursive: true, force: true });
  });
  let writes = 0;
  const lost: (() => void)[] = [];
  const { shared } = store;
  const counted: SharedKeys = {
    list: (prefix) => shared.list(prefix),
    watch: (prefix, listener) => shared.watch(prefix, listener),
    put(put) {
      writes += 1;
      return shared.put(put);
    },
    remove(key, expected) {
      writes += 1;
      return shared.remove(key, expected);
    },
    session(options) {
      writes += 1;
      lost.push(options.lost);
      return shared.session(options);
    },
  };
  return { directory, shared: counted, writes: () => writes, lost, sockets: () => readdir(join(directory, "servers")) };
}

type State = Awaited<ReturnType<typeof state>>;

async function started(t: TestContext, { directory, shared }: State, name: string, isWritable = true) {
  const said: string[] = [];
  const gone: string[] = [];
  const replicas = await Replicas.join({
    shared,
    directory,
    at: { kind: "state", directory, isWritable },
    self: { id: name, name, version: "1" },
    answers: async () => ({ greet: async (who: string) => `${name} greets ${who}` }),
    gone: (replica) => gone.push(replica.name),
    problem: (finding) => said.push(finding?.message ?? "it is over"),
    refused: () => {},
  });
  t.after(() => replicas.close());
  const names = () => replicas.others.map((one) => one.name).join();
  return { replicas, said, gone, names };
}

describe("a server of a state folder", () => {
  it("writes nothing while it is alone, joins when another starts, and leaves when that is gone", async (t) => {
    const one = await state(t);
    const a = await started(t, one, "a");
    await waitFor("it is known that it is alone", () => a.replicas.isKnown);
    assert.equal(one.writes(), 0);
    const b = await started(t, one, "b");
    await waitFor("both are known", () => a.names() === "b" && b.names() === "a");
    assert.equal(b.replicas.isKnown, true);
    const [ofB] = a.replicas.others;
    assert.equal(await a.replicas.ask(ofB ?? assert.fail(), "greet", "a"), "b greets a");
    await b.replicas.close();
    await waitFor("it is alone", () => a.names() === "");
    assert.deepEqual(a.gone, ["b"]);
    for (let tries = 0; (await one.shared.list("replicas/members/")).length > 0; tries += 1) {
      assert.ok(tries < 500, "it stays");
      await delay(10);
    }
    assert.deepEqual(await one.sockets(), ["a.sock"]);
    assert.deepEqual([...a.said, ...b.said], []);
  });

  it("does not take itself for alone before a neighbor that listens has joined", async (t) => {
    const one = await state(t);
    const silent = createServer();
    await mkdir(join(one.directory, "servers"));
    await new Promise<void>((resolve) => silent.listen(join(one.directory, "servers", "b.sock"), resolve));
    t.after(() => new Promise((resolve) => silent.close(resolve)));
    let isStarted = false;
    const starting = started(t, one, "a").then(() => {
      isStarted = true;
    });
    const members = async () => (await one.shared.list("replicas/members/")).length;
    for (let tries = 0; (await members()) === 0; tries += 1) {
      assert.ok(tries < 500, "it does not join");
      await delay(10);
    }
    assert.equal(isStarted, false);
    const value = JSON.stringify({ id: "b", name: "b", address: "unix:servers/b.sock", version: "1", since: 0 });
    await one.shared.put({ key: "replicas/members/b", value, expected: undefined });
    await starting;
  });

  it("joins again with another that both were taken for dead", async (t) => {
    const one = await state(t);
    const [a, b] = [await started(t, one, "a"), await started(t, one, "b")];
    await waitFor("both are known", () => a.names() === "b" && b.names() === "a");
    const lost = one.lost.splice(0);
    await Promise.all(["a", "b"].map((id) => one.shared.remove(`replicas/members/${id}`, "any")));
    await waitFor("none is known", () => a.names() + b.names() === "");
    for (const each of lost) each();
    await waitFor("both are known again", () => a.names() === "b" && b.names() === "a");
  });

  it("finds others under another path of the folder", async (t) => {
    const one = await state(t);
    const a = await started(t, one, "a");
    const moved = `${one.directory}-moved`;
    await rename(one.directory, moved);
    const b = await started(t, { ...one, directory: moved }, "b");
    await waitFor("both are known", () => a.names() === "b" && b.names() === "a");
    const [ofA] = b.replicas.others;
    assert.equal(await b.replicas.ask(ofA ?? assert.fail(), "greet", "b"), "a greets b");
  });

  it("removes the socket that a killed one left, and keeps a young one", async (t) => {
    const one = await state(t);
    await mkdir(join(one.directory, "servers"));
    for (const name of ["old", "young"]) {
      const path = join(one.directory, "servers", `${name}.sock`);
      const aside = `${path}-aside`;
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      // Nobody removes it under its other name.
      await rename(path, aside);
      await new Promise((resolve) => server.close(resolve));
      await rename(aside, path);
    }
    await utimes(join(one.directory, "servers", "old.sock"), 1, 1);
    const a = await started(t, one, "a");
    await waitFor("it is known that it is alone", () => a.replicas.isKnown);
    assert.deepEqual((await one.sockets()).sort(), ["a.sock", "young.sock"]);
    assert.equal(one.writes(), 0);
  });

  it("lets only its owner ask", async (t) => {
    const one = await state(t);
    await started(t, one, "a");
    const modes = ["servers", "servers/a.sock"].map(async (name) => (await stat(join(one.directory, name))).mode);
    assert.deepEqual(
      (await Promise.all(modes)).map((mode) => mode & 0o777),
      [0o700, 0o600],
    );
  });

  it("is always joined where a socket does not fit into the folder, and known to those that are alone", async (t) => {
    const one = await state(t, "x".repeat(100));
    const a = await started(t, one, "a");
    let addresses: readonly string[] = [];
    for (let tries = 0; addresses.length === 0; tries += 1) {
      assert.ok(tries < 500, "it does not join");
      await delay(10);
      addresses = (await one.shared.list("replicas/members/")).map(({ value }) => JSON.parse(value).address);
    }
    assert.match(addresses.join(), /^unix:\//);
    const b = await started(t, one, "b");
    await waitFor("both are known", () => a.names() === "b" && b.names() === "a");
    const [ofA] = b.replicas.others;
    assert.equal(await b.replicas.ask(ofA ?? assert.fail(), "greet", "b"), "a greets b");
  });

  it("does not listen where the path of the socket is cut off, also among temporary files", async (t) => {
    const one = await state(t, "x".repeat(100));
    const temporary = join(one.directory, "tmp");
    await mkdir(temporary);
    const { TMPDIR } = process.env;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    process.env.TMPDIR = temporary;
    await assert.rejects(started(t, one, "a"), /the path of the socket .+ is too long/);
    assert.deepEqual(await readdir(temporary), []);
  });

  it("says nothing while it is alone and the store cannot be written, and that it cannot join when there are others", async (t) => {
    const one = await state(t);
    await started(t, one, "a");
    const refused = async () => {
      throw new Error("only read");
    };
    const shared: SharedKeys = { ...one.shared, put: refused, session: refused };
    const b = await started(t, { ...one, shared, directory: join(one.directory, "missing", "\0") }, "b", false);
    await waitFor("it is known that it is alone", () => b.replicas.isKnown);
    assert.deepEqual(b.said, []);
    await started(t, one, "c");
    await waitFor("it says that it cannot join", () => b.said.length > 0);
    assert.match(b.said.join(), /^other servers of the store cannot find this one: only read$/);
    await waitFor("the others are known", () => b.names() === "a,c");
  });
});
