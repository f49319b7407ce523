import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommitInfo, Store, StoredResource } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { peer } from "./harness/basics/peers.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster, type EtcdClusterOptions } from "./harness/peers/etcd.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const prefix = "/faults";
const info: CommitInfo = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 };

function resource(key: string, version: string, bytes = Buffer.from(`${key} at ${version}`)): StoredResource {
  return { type, key, version, bytes };
}

/** A cluster of a test's own; undefined where etcd is not installed. */
async function cluster(t: TestContext, options?: EtcdClusterOptions): Promise<EtcdCluster | undefined> {
  const program = peer("etcd", t);
  if (program === undefined) return undefined;
  const etcd = await EtcdCluster.start(program, options);
  t.after(() => etcd.stop());
  return etcd;
}

async function opened(
  t: TestContext,
  { endpoints }: Pick<EtcdCluster, "endpoints">,
  timeoutMs = 5_000,
): Promise<Store> {
  const store = await openEtcdStore({ endpoints, prefix, timeoutMs });
  t.after(() => store.close());
  return store;
}

async function patch(store: Store, layer: string, upsert: readonly StoredResource[]): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const parent = (await store.head(layer))?.id;
    const result = await store.commit([{ layer, parent, kind: "patch", upsert }], info);
    if (result.kind === "committed") return result.heads[0]?.id ?? assert.fail();
  }
  return assert.fail("others were always faster");
}

/** Commits again and again until it is stopped; what fails is tried again with a further resource. */
async function writing(store: Store, layer: string, name: string, signal: AbortSignal) {
  const acknowledged: string[] = [];
  let failed = 0;
  for (let number = 0; !signal.aborted; number += 1) {
    await patch(store, layer, [resource(name, `${number}`), resource(`${name}-${number % 7}`, `${number}`)]).then(
      (id) => acknowledged.push(id),
      () => (failed += 1),
    );
    await sleep(5);
  }
  return { acknowledged, failed };
}

/** Every revision that was acknowledged is in the history, which has no gaps, and all of it can be read. */
async function assertWhole(store: Store, layer: string, acknowledged: readonly string[]): Promise<void> {
  const history = await store.history(layer, { limit: 100_000 });
  assert.deepEqual(
    history.map(({ number }) => number),
    history.map((_, index) => history.length - index),
  );
  for (const [index, { parent }] of history.entries()) assert.equal(parent, history[index + 1]?.id);
  const ids = new Set(history.map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !ids.has(id)),
    [],
  );
  for (const { id } of [history[0], history[history.length >> 1], history.at(-1)].flatMap((one) => one ?? [])) {
    for (const { key, version, bytes } of await store.read(id))
      assert.equal(Buffer.from(bytes).toString(), `${key} at ${version}`);
  }
}

describe("a store in etcd", () => {
  it("loses no revision while members are killed, stopped and continued in turn", { timeout: 90_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const stores = [await opened(t, etcd, 1_000), await opened(t, { endpoints: etcd.endpoints.toReversed() }, 1_000)];
    const stop = new AbortController();
    const writers = stores.map((store, index) => writing(store, "a", `w${index}`, stop.signal));
    for (const member of etcd.members) {
      await sleep(300);
      await member.kill();
      await sleep(700);
      await member.start();
      await sleep(300);
      member.signal("SIGSTOP");
      await sleep(1_500);
      member.signal("SIGCONT");
    }
    await sleep(500);
    stop.abort();
    const done = await Promise.all(writers);
    const acknowledged = done.flatMap((one) => one.acknowledged);
    // A busy machine writes few.
    assert.ok(acknowledged.length > 5, `${acknowledged.length} revisions, ${done[0]?.failed} failed`);
    await assertWhole(stores[0] ?? assert.fail(), "a", acknowledged);
    // Another process reads the same.
    await assertWhole(await opened(t, etcd), "a", acknowledged);
  });

  it("refuses to write while there is no majority, and goes on afterwards", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const store = await opened(t, etcd, 500);
    const first = await patch(store, "a", [resource("one", "1")]);
    const [one, two] = etcd.members;
    await one?.kill();
    await two?.kill();
    await assert.rejects(patch(store, "a", [resource("one", "2")]), { code: "XDSKIT_STORE" });
    await one?.start();
    await two?.start();
    const second = await eventually("it can be written again", () => patch(store, "a", [resource("one", "3")]), {
      withinMs: 20_000,
    });
    await assertWhole(store, "a", [first, second]);
  });

  it("collects what a dead writer left, and nothing that a living one writes", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t, { size: 1 });
    if (etcd === undefined) return;
    const store = await opened(t, etcd);
    const count = () => keysBelow(etcd, t).filter((key) => key.includes("/contents/")).length;
    await patch(store, "a", [resource("one", "1")]);
    // As a writer that was killed before its commit leaves it: a mark without a life, and contents.
    for (const key of ["ahead/dead", "contents/useless/0000000000000000", "changes/useless/0000000000000000"])
      control(etcd, t, "put", `${prefix}/${key}`, "x");
    assert.equal(count(), 2);
    const stop = new AbortController();
    const other = await opened(t, etcd);
    const writer = writing(other, "b", "w", stop.signal);
    for (let round = 0; round < 20; round += 1) await store.retain({ revisions: 5, since: 0 });
    stop.abort();
    await writer;
    await store.retain({ revisions: 5, since: 0 });
    assert.deepEqual(
      keysBelow(etcd, t).filter((key) => key.includes("useless") || key.includes("/ahead/")),
      [],
    );
    for (const layer of ["a", "b"]) {
      const history = await store.history(layer, { limit: 100 });
      assert.ok(history.length <= 5);
      for (const { id } of history)
        for (const { key, version, bytes } of await store.read(id))
          assert.equal(Buffer.from(bytes).toString(), `${key} at ${version}`);
    }
  });

  it("collects what writers left that were too late once there are many of them", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t, { size: 1 });
    if (etcd === undefined) return;
    const stores = [await opened(t, etcd), await opened(t, etcd)];
    const [store = assert.fail()] = stores;
    const marks = () => keysBelow(etcd, t).filter((key) => key.includes("/ahead/"));
    for (let round = 0; marks().length === 0; round += 1) {
      assert.ok(round < 50, "nobody was too late");
      const parent = (await store.head("a"))?.id;
      const upsert = (index: number) => [resource(`${index}`, `${round}`)];
      await Promise.all(
        stores.map((one, index) => one.commit([{ layer: "a", parent, kind: "patch", upsert: upsert(index) }], info)),
      );
    }
    const left = marks();
    assert.equal(await store.retain({ revisions: 1_000, since: 0 }), 0);
    assert.deepEqual(marks(), left);
    for (let number = 0; number < 20; number += 1) control(etcd, t, "put", `${prefix}/ahead/late${number}`, "lost");
    await store.retain({ revisions: 1_000, since: 0 });
    assert.deepEqual(marks(), []);
  });

  it("writes a change again whose writer was taken for dead", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t, { size: 1 });
    if (etcd === undefined) return;
    const store = await opened(t, etcd);
    let collected = 0;
    const slow: StoredResource = {
      ...resource("slow", "1"),
      get bytes() {
        // As if another server collected while this one was stopped for a minute.
        if (collected++ === 0) control(etcd, t, "del", "--prefix", `${prefix}/ahead/`);
        return Buffer.from("slow at 1");
      },
    };
    const id = await patch(store, "a", [slow]);
    assert.equal(collected, 2);
    await assertWhole(store, "a", [id]);
  });

  it("keeps contents that are larger than one request of etcd may be", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t, { size: 1 });
    if (etcd === undefined) return;
    const store = await opened(t, etcd);
    const bytes = Buffer.alloc(3_500_000, "large");
    const id = await patch(store, "a", [resource("large", "1", bytes), resource("small", "1")]);
    const read = await store.read(id);
    assert.ok(bytes.equals(read.find(({ key }) => key === "large")?.bytes ?? Buffer.alloc(0)));
    assert.ok(bytes.equals((await store.content(type, "large", "1")) ?? Buffer.alloc(0)));
  });

  it("is reached over TLS, with a client's certificate, and with a user", { timeout: 60_000 }, async (t) => {
    const program = peer("etcd", t);
    if (program === undefined) return;
    const authority = createAuthority("an authority");
    const [server, client] = [authority.issue("etcd", "IP:127.0.0.1"), authority.issue("xdskit")];
    const etcd = await cluster(t, { size: 1 });
    if (etcd === undefined) return;
    const file = (name: string, text: string) => {
      const path = join(etcd.directory, name);
      writeFileSync(path, text);
      return path;
    };
    const secured = await cluster(t, {
      size: 1,
      scheme: "https",
      args: [
        ...["--cert-file", file("server.pem", server.certificate), "--key-file", file("server.key", server.key)],
        ...["--trusted-ca-file", file("ca.pem", authority.certificate), "--client-cert-auth"],
      ],
    });
    if (secured === undefined) return;
    const { endpoints } = secured;
    const tls = { ca: authority.certificate, certificate: client.certificate, key: client.key };
    await assert.rejects(openEtcdStore({ endpoints, prefix, tls: { ca: tls.ca }, timeoutMs: 1_000 }), {
      code: "XDSKIT_STORE",
    });
    const store = await openEtcdStore({ endpoints, prefix, tls });
    t.after(() => store.close());
    await patch(store, "a", [resource("one", "1")]);
    const plain = await opened(t, etcd);
    for (const args of [
      ["user", "add", "root:secret"],
      ["user", "grant-role", "root", "root"],
      ["auth", "enable"],
    ])
      control(etcd, t, ...args);
    await assert.rejects(patch(plain, "a", [resource("one", "1")]), { code: "XDSKIT_STORE" });
    const wrong = openEtcdStore({ endpoints: etcd.endpoints, prefix, user: { name: "root", password: "wrong-word" } });
    await assert.rejects(wrong, (error: Error) => !error.message.includes("wrong-word"));
    const known = await openEtcdStore({
      endpoints: etcd.endpoints,
      prefix,
      user: { name: "root", password: "secret" },
    });
    t.after(() => known.close());
    await patch(known, "a", [resource("one", "2")]);
  });
});

/** Runs etcdctl; returns what it prints. */
function control({ endpoints }: EtcdCluster, t: TestContext, ...args: readonly string[]): string {
  const program = peer("etcdctl", t) ?? assert.fail("etcdctl is missing");
  const env = { ...process.env, ETCDCTL_API: "3" };
  const { stdout, stderr, status } = spawnSync(program, ["--endpoints", endpoints.join(","), ...args], { env });
  assert.equal(status, 0, String(stderr));
  return String(stdout);
}

function keysBelow(etcd: EtcdCluster, t: TestContext): readonly string[] {
  return control(etcd, t, "get", "--prefix", `${prefix}/`, "--keys-only").split("\n").filter(Boolean);
}
