import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "@xdskit/server";
import { type EtcdStoreOptions, openEtcdStore } from "@xdskit/store-etcd";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { peer } from "./harness/basics/peers.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 } as const;

function folder(t: TestContext): (name: string, text: string) => string {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-files-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return (name, text) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
}

async function cluster(t: TestContext, args: readonly string[], scheme?: "https"): Promise<EtcdCluster | undefined> {
  const program = peer("etcd", t);
  if (program === undefined) return undefined;
  const etcd = await EtcdCluster.start(program, { size: 1, args, ...(scheme === undefined ? {} : { scheme }) });
  t.after(() => etcd.stop());
  return etcd;
}

async function opened(t: TestContext, options: Omit<EtcdStoreOptions, "prefix">): Promise<Store> {
  const store = await openEtcdStore({ prefix: "/credentials", timeoutMs: 2_000, ...options });
  t.after(() => store.close());
  return store;
}

async function write(store: Store, version: string): Promise<number> {
  const parent = (await store.head("a"))?.id;
  const upsert = [{ type, key: "one", version, bytes: Buffer.from(version) }];
  const result = await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info);
  return result.kind === "committed" ? (result.heads[0]?.number ?? 0) : assert.fail();
}

/** The number of the head that a watch heard last, and the times that it was away. */
function watched(t: TestContext, store: Store) {
  const seen = { number: 0, away: [] as string[] };
  const watch = store.watch({
    moved: ([head]) => {
      seen.number = head?.number ?? 0;
    },
    away: ({ message }) => void seen.away.push(message),
  });
  t.after(() => watch.close());
  return seen;
}

function control(t: TestContext, { endpoints }: EtcdCluster, ...args: readonly string[]): void {
  const program = peer("etcdctl", t) ?? assert.fail("etcdctl is missing");
  const env = { ...process.env, ETCDCTL_API: "3" };
  const { status, stderr } = spawnSync(program, ["--endpoints", endpoints.join(","), ...args], { env });
  assert.equal(status, 0, String(stderr));
}

describe("the token of a user of etcd", () => {
  const user = { name: "root", password: "secret" };

  async function withUser(t: TestContext, args: readonly string[]): Promise<EtcdCluster | undefined> {
    const etcd = await cluster(t, args);
    if (etcd === undefined) return undefined;
    for (const each of ["user add root:secret", "user grant-role root root", "auth enable"])
      control(t, etcd, ...each.split(" "));
    return etcd;
  }

  it("is asked for again once it is too old", { timeout: 60_000 }, async (t) => {
    const etcd = await withUser(t, ["--auth-token-ttl", "1"]);
    if (etcd === undefined) return;
    const store = await opened(t, { endpoints: etcd.endpoints, user });
    for (const version of ["1", "2"]) {
      await Promise.all([write(store, version), store.heads(), store.heads()]);
      await sleep(4_000);
    }
  });

  it("is asked for again after each change of users, where tokens are signed", { timeout: 60_000 }, async (t) => {
    const file = folder(t);
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const pub = file("token.pub", String(publicKey.export({ type: "spki", format: "pem" })));
    const priv = file("token.key", String(privateKey.export({ type: "pkcs8", format: "pem" })));
    const etcd = await withUser(t, ["--auth-token", `jwt,pub-key=${pub},priv-key=${priv},sign-method=RS256,ttl=10m`]);
    if (etcd === undefined) return;
    const store = await opened(t, { endpoints: etcd.endpoints, user });
    const seen = watched(t, store);
    for (let number = 1; number <= 3; number += 1) {
      const written = await write(store, `${number}`);
      await eventually(`revision ${written} is heard`, () => seen.number === written, { withinMs: 20_000 });
      control(t, etcd, "--user", "root:secret", "user", "add", `user${number}:word`);
      await Promise.all([store.heads(), store.heads(), store.head("a")]);
    }
    assert.deepEqual(seen.away, []);
  });

  it("is not needed while etcd knows no users", { timeout: 60_000 }, async (t) => {
    const etcd = await withUser(t, []);
    if (etcd === undefined) return;
    const store = await opened(t, { endpoints: etcd.endpoints, user });
    await write(store, "1");
    control(t, etcd, "--user", "root:secret", "auth", "disable");
    await write(store, "2");
    const other = await opened(t, { endpoints: etcd.endpoints, user });
    control(t, etcd, "auth", "enable");
    await write(store, "3");
    await write(other, "4");
  });
});

describe("the certificate for etcd", () => {
  it("is taken from its files again when they are replaced", { timeout: 120_000 }, async (t) => {
    const file = folder(t);
    const [old, next, foreign] = [createAuthority("old"), createAuthority("next"), createAuthority("foreign")];
    const server = old.issue("etcd", "IP:127.0.0.1");
    const trusted = file("trusted.pem", old.certificate);
    const files = {
      ca: file("ca.pem", old.certificate),
      certificate: file("client.pem", ""),
      key: file("client.key", ""),
    };
    const replace = ({ certificate, key }: { readonly certificate: string; readonly key: string }) => {
      writeFileSync(files.certificate, certificate);
      writeFileSync(files.key, key);
    };
    const first = old.issue("first");
    replace(first);
    const etcd = await cluster(
      t,
      [
        ...["--cert-file", file("server.pem", server.certificate), "--key-file", file("server.key", server.key)],
        ...["--trusted-ca-file", trusted, "--client-cert-auth"],
      ],
      "https",
    );
    if (etcd === undefined) return;
    const told: (string | undefined)[] = [];
    const read = async () => ({
      ca: await readFile(files.ca, "utf8"),
      certificate: await readFile(files.certificate, "utf8"),
      key: await readFile(files.key, "utf8"),
    });
    const store = await opened(t, {
      endpoints: etcd.endpoints,
      tls: read,
      tlsProblem: (finding) => void told.push(finding?.message),
    });
    const seen = watched(t, store);
    const hears = async (version: string) => {
      const number = await eventually(`${version} is written`, () => write(store, version), { withinMs: 40_000 });
      await eventually(`revision ${number} is heard`, () => seen.number === number, { withinMs: 20_000 });
    };
    await hears("first");
    // Neither a broken file nor a certificate that etcd does not know takes the place of one that works.
    replace({ ...first, certificate: "nonsense" });
    await eventually("the broken file is told", () => told.length === 1, { withinMs: 40_000 });
    replace(foreign.issue("foreign"));
    await eventually("the foreign certificate is told", () => told.length === 2, { withinMs: 40_000 });
    assert.match(told[1] ?? "", /the ones before stay in use: etcd does not accept them/);
    await hears("still the first");
    // Etcd is started again with another authority: only a new certificate brings anybody in.
    replace(next.issue("second"));
    writeFileSync(trusted, next.certificate);
    await etcd.members[0]?.kill();
    await etcd.members[0]?.start();
    await hears("second");
    assert.equal(told.at(-1), undefined);
  });
});
