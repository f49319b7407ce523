import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Revision, SharedEntry, Store } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { peer } from "./harness/basics/peers.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";

const prefix = "/watch";
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 } as const;
/** The time in which a watcher must learn what others wrote while a member does not answer, in milliseconds. */
const soonMs = 10_000;

async function cluster(t: TestContext): Promise<EtcdCluster | undefined> {
  const program = peer("etcd", t);
  if (program === undefined) return undefined;
  const etcd = await EtcdCluster.start(program);
  t.after(() => etcd.stop());
  return etcd;
}

async function opened(t: TestContext, endpoints: readonly string[]): Promise<Store> {
  const store = await openEtcdStore({ endpoints, prefix, timeoutMs: 1_000 });
  t.after(() => store.close());
  return store;
}

async function write(store: Store, version: string): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const upsert = [{ type, key: "one", version, bytes: Buffer.from(version) }];
    try {
      const parent = (await store.head("a"))?.id;
      const result = await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info);
      if (result.kind === "committed") return result.heads[0]?.number ?? assert.fail();
    } catch {
      await sleep(50);
    }
  }
  return assert.fail("it cannot be written");
}

/** What a watcher was told of the layer, and of the store. */
class Watcher {
  readonly numbers: number[] = [];
  readonly away: string[] = [];

  constructor(t: TestContext, store: Store) {
    const watch = store.watch({
      moved: (heads: readonly Revision[]) => void this.numbers.push(heads[0]?.number ?? 0),
      away: ({ message }) => void this.away.push(message),
    });
    t.after(() => watch.close());
  }

  async hears(number: number): Promise<void> {
    const hear = () => (this.numbers.at(-1) ?? 0) >= number;
    await eventually(`revision ${number} is heard, after ${this.numbers.at(-1)}`, hear, { withinMs: soonMs });
  }

  assertForward(): void {
    assert.deepEqual(
      this.numbers,
      this.numbers.toSorted((a, b) => a - b),
    );
  }
}

function control(t: TestContext, endpoint: string, ...args: readonly string[]): string {
  const program = peer("etcdctl", t) ?? assert.fail();
  const env = { ...process.env, ETCDCTL_API: "3" };
  const { status, stdout, stderr } = spawnSync(program, ["--endpoints", endpoint, ...args], { encoding: "utf8", env });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** A process that holds the key `leader`. */
async function holder(t: TestContext, endpoints: readonly string[]) {
  const program = fileURLToPath(import.meta.url).replace(/etcd-watch\.test\.(\w+)$/, "harness/peers/session-holder.$1");
  const child = spawn(process.execPath, [...process.execArgv, program, prefix, "2000", ...endpoints], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  const says = (line: string) => eventually(`it says ${line}`, () => lines.includes(line), { withinMs: 20_000 });
  await says("held");
  return { child, says };
}

describe("a watch of a store in etcd", () => {
  it("hears the newest while members are killed and stopped in turn", { timeout: 120_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const { endpoints, members } = etcd;
    const writer = await opened(t, endpoints.toReversed());
    // One watcher for each member that it asks first.
    const watchers = await Promise.all(
      endpoints.map(
        async (_, at) => new Watcher(t, await opened(t, [...endpoints.slice(at), ...endpoints.slice(0, at)])),
      ),
    );
    const allHear = async (version: string) => {
      const number = await write(writer, version);
      await Promise.all(watchers.map((watcher) => watcher.hears(number)));
    };
    await allHear("first");
    for (const member of members) {
      member.signal("SIGSTOP");
      await allHear(`${member.name} stopped`);
      member.signal("SIGCONT");
      await allHear(`${member.name} continued`);
      await member.kill();
      await allHear(`${member.name} killed`);
      await member.start();
      await allHear(`${member.name} started`);
    }
    for (const watcher of watchers) watcher.assertForward();
  });

  it("misses nothing that was compacted meanwhile, nor when the leader changes", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const { endpoints, members } = etcd;
    const writer = await opened(t, endpoints);
    const watcher = new Watcher(t, await opened(t, endpoints.toReversed()));
    await watcher.hears(await write(writer, "1"));
    members.at(-1)?.signal("SIGSTOP");
    for (let number = 2; number < 20; number += 1) await write(writer, `${number}`);
    const status = control(t, endpoints[0] ?? "", "endpoint", "status", "--write-out=json");
    const [{ Status }] = JSON.parse(status) as [{ Status: { header: { revision: number } } }];
    control(t, endpoints[0] ?? "", "compact", `${Status.header.revision}`);
    members.at(-1)?.signal("SIGCONT");
    await watcher.hears(await write(writer, "20"));
    const ids = control(t, endpoints.join(","), "endpoint", "status", "--write-out=json");
    const all = JSON.parse(ids) as { Endpoint: string; Status: { leader: number; header: { member_id: number } } }[];
    // Numbers of 64 bits are read from the text.
    const [, next] = [...ids.matchAll(/"member_id":(\d+)/g)].map(([, id]) => BigInt(id ?? "0").toString(16));
    const leader = all.find(({ Status: { leader, header } }) => leader === header.member_id)?.Endpoint ?? "";
    if (leader !== all[1]?.Endpoint) control(t, leader, "move-leader", next ?? "");
    await watcher.hears(await write(writer, "21"));
    watcher.assertForward();
  });

  it("says once that the store is away, and comes back with the newest", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const [one, two] = etcd.members;
    const store = await opened(t, etcd.endpoints);
    const watcher = new Watcher(t, store);
    await watcher.hears(await write(store, "1"));
    await Promise.all([one?.kill(), two?.kill()]);
    await eventually("it is away", () => watcher.away.length === 1, { withinMs: 30_000 });
    const told = watcher.numbers.length;
    await Promise.all([one?.start(), two?.start()]);
    await eventually("it is back", () => watcher.numbers.length > told, { withinMs: 30_000 });
    await watcher.hears(await write(store, "2"));
    assert.equal(watcher.away.length, 1);
    watcher.assertForward();
  });
});

describe("a session in etcd", () => {
  it("outlives the member that granted it", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const store = await opened(t, etcd.endpoints);
    const session = await store.shared.session({ ttlMs: 5_000, lost: () => assert.fail("it was lost") });
    await store.shared.put({ key: "leader", value: "me", expected: undefined, session });
    await etcd.members[0]?.kill();
    await sleep(7_000);
    assert.deepEqual([session.isOver, (await store.shared.list("leader")).length], [false, 1]);
  });

  it("is over soon after its process was killed", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const store = await opened(t, etcd.endpoints);
    const { child } = await holder(t, etcd.endpoints);
    const seen: string[] = [];
    const watch = store.shared.watch("leader", {
      entriesChanged: (entries: readonly SharedEntry[]) => void seen.push(entries.map(({ value }) => value).join()),
      away: () => {},
    });
    t.after(() => watch.close());
    await eventually("it is seen", () => seen.at(-1) === "holder", { withinMs: soonMs });
    child.kill("SIGKILL");
    await eventually("it is gone", () => seen.at(-1) === "", { withinMs: soonMs });
  });

  it("is lost to a process that was stopped, and another one takes its key", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const store = await opened(t, etcd.endpoints);
    const { child, says } = await holder(t, etcd.endpoints);
    const session = await store.shared.session({ ttlMs: 5_000, lost: () => assert.fail("it was lost") });
    const take = () => store.shared.put({ key: "leader", value: "other", expected: undefined, session });
    assert.equal(await take(), undefined);
    child.kill("SIGSTOP");
    await eventually("the key is free", take, { withinMs: 20_000 });
    child.kill("SIGCONT");
    await says("lost");
    assert.equal((await store.shared.list("leader"))[0]?.value, "other");
  });
});
