import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { request as requestTls } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createMemoryStore, type SharedKeys, tlsSource } from "@xdskit/server";
import { type Authority, type Certificate, createAuthority } from "../../../../api/src/testing/certificates.js";
import { waitFor } from "../../../../grpc-server/src/testing/wait-for.js";
import type { ReplicaAddress } from "./replica-listener.js";
import { type ReplicaCertificates, readReplicaTls } from "./replica-tls.js";
import { Replicas } from "./replicas.js";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "xdskit-replicas-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

function port(tls?: ReplicaCertificates): ReplicaAddress {
  return { kind: "port", address: { host: "127.0.0.1", port: 0 }, tls };
}

/** The files of a certificate and its authority. */
async function written(t: TestContext, authority: Authority, { certificate, key }: Certificate) {
  const directory = await folder(t);
  const files = {
    certificateFile: join(directory, "crt"),
    keyFile: join(directory, "key"),
    clientCaFile: join(directory, "ca"),
  };
  await writeFile(files.certificateFile, certificate);
  await writeFile(files.keyFile, key);
  await writeFile(files.clientCaFile, authority.certificate);
  return files;
}

async function joined(t: TestContext, shared: SharedKeys, name: string, at: ReplicaAddress) {
  const gone: string[] = [];
  const said: string[] = [];
  const refused: string[] = [];
  const replicas = await Replicas.join({
    shared,
    at,
    self: { id: name, name, version: "1" },
    answers: async () => ({
      greet: async (who: string) => `${name} greets ${who}`,
      fail: async () => {
        throw new Error("no");
      },
      hang: () => new Promise<never>(() => {}),
    }),
    gone: (replica) => gone.push(replica.name),
    problem: (finding) => said.push(finding?.message ?? "it is over"),
    refused: ({ called, proved }) => refused.push(`${called} ${proved}`),
  });
  t.after(() => replicas.close());
  /** The answer of each other server, or the reason why it has none. */
  const askAll = (question: string, asked: unknown) =>
    Promise.all(
      replicas.others.map((one) =>
        replicas.ask(one, question, asked).then(
          (answer) => ({ answer }),
          (error: Error) => ({ silent: error.message }),
        ),
      ),
    );
  return { replicas, gone, said, refused, askAll, names: () => replicas.others.map((one) => one.name).join() };
}

async function store(t: TestContext): Promise<SharedKeys> {
  const made = await createMemoryStore();
  t.after(() => made.close());
  return made.shared;
}

describe("the servers of a store", () => {
  it("know and answer each other, over sockets and ports, and hear when one is gone", async (t) => {
    const [shared, directory] = [await store(t), await folder(t)];
    const a = await joined(t, shared, "a", { kind: "socket", path: join(directory, "a.sock") });
    const b = await joined(t, shared, "b", port());
    const c = await joined(t, shared, "c", { kind: "socket", path: join(directory, "c.sock") });
    await waitFor("all are known", () => `${a.names()} ${b.names()} ${c.names()}` === "b,c a,c a,b");
    const answered = await a.askAll("greet", "a");
    assert.deepEqual(
      answered.map((one) => "answer" in one && one.answer),
      ["b greets a", "c greets a"],
    );
    assert.deepEqual([...a.said, ...b.said, ...c.said], []);
    await b.replicas.close();
    await waitFor("it is gone", () => a.names() === "c" && c.names() === "a");
    assert.deepEqual([a.gone, c.gone], [["b"], ["b"]]);
  });

  it("name the silent ones, with the reason", async (t) => {
    const shared = await store(t);
    const [a, b] = [await joined(t, shared, "a", port()), await joined(t, shared, "b", port())];
    await waitFor("it is known", () => a.names() === "b");
    const said = async (question: "fail" | "hang") => {
      const [one] = await a.askAll(question, undefined);
      return one !== undefined && "silent" in one ? one.silent : assert.fail();
    };
    assert.equal(await said("fail"), "no");
    assert.equal(await said("hang"), "it did not answer within 3 s");
    const other = b.replicas.self;
    await b.replicas.close();
    await assert.rejects(a.replicas.ask(other, "greet", "a"), /ECONNREFUSED/);
  });

  it("answer nobody who cannot read the store", async (t) => {
    const { replicas, refused } = await joined(t, await store(t), "a", port());
    const statusOf = (authorization?: string) =>
      new Promise((resolve, reject) => {
        const headers = authorization === undefined ? {} : { authorization };
        request(`${replicas.self.address}/replica/v1/greet`, { method: "POST", headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .end('"me"');
      });
    assert.deepEqual([await statusOf(), await statusOf("Bearer x")], [401, 401]);
    assert.deepEqual(
      refused,
      ["address 127.0.0.1, no certificate, no token", "address 127.0.0.1, no certificate, a token"].map(
        (one) => `/replica/v1/greet ${one}`,
      ),
    );
  });

  it("say that a body is no JSON without its text", async (t) => {
    const shared = await store(t);
    const { replicas } = await joined(t, shared, "a", port());
    const odd = createServer((_, response) => response.end("S3CR3T")).listen(0, "127.0.0.1");
    t.after(() => odd.close());
    await once(odd, "listening");
    const address = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
    const silent = await replicas
      .ask({ ...replicas.self, address }, "greet", "a")
      .catch((error: Error) => error.message);
    assert.equal(silent, "it answers with something else than JSON");
    const [token] = await shared.list("replicas/token");
    const answer = await fetch(`${replicas.self.address}/replica/v1/greet`, {
      method: "POST",
      headers: { authorization: `Bearer ${token?.value}` },
      body: "S3CR3T",
    });
    assert.deepEqual([answer.status, await answer.json()], [400, { message: "the question is no JSON" }]);
  });

  it("answer each other again after the store lost their token, and say so", async (t) => {
    const shared = await store(t);
    const a = await joined(t, shared, "a", port());
    const b = await joined(t, shared, "b", port());
    assert.ok(await shared.remove("replicas/token", "any"));
    const c = await joined(t, shared, "c", port());
    const all = [a, b, c];
    await waitFor("all are known", () => all.map(({ names }) => names()).join(" ") === "b,c a,c a,b");
    const answered = async () =>
      (await Promise.all(all.map((one) => one.askAll("greet", "you")))).flat().filter((one) => "answer" in one).length;
    for (let tries = 0; (await answered()) < 6; tries += 1) {
      assert.ok(tries < 500, "they refuse each other");
      await delay(10);
    }
    for (const { said } of [a, b]) assert.match(said.join(), /^the store has another token than the one that/);
    assert.deepEqual(c.said, []);
  });

  it("put their token back where the store lost it with their sessions", async (t) => {
    const shared = await store(t);
    const lost: (() => void)[] = [];
    const watched: SharedKeys = {
      list: (prefix) => shared.list(prefix),
      put: (put) => shared.put(put),
      remove: (key, expected) => shared.remove(key, expected),
      watch: (prefix, listener) => shared.watch(prefix, listener),
      session: (options) => {
        lost.push(options.lost);
        return shared.session(options);
      },
    };
    const a = await joined(t, watched, "a", port());
    await waitFor("it has a session", () => lost.length > 0);
    const [token] = await shared.list("replicas/token");
    await shared.remove("replicas/token", "any");
    lost[0]?.();
    await waitFor("it says that it is back", () => a.said.length > 0);
    assert.equal((await shared.list("replicas/token"))[0]?.value, token?.value);
    assert.match(a.said.join(), /^the store had lost the token/);
  });

  it("show each other certificates where clients must show one", async (t) => {
    const shared = await store(t);
    const tls = (name: string, authority = createAuthority("an authority")) =>
      written(t, authority, authority.issue(name, "IP:127.0.0.1"));
    const authority = createAuthority("of the fleet");
    const a = await joined(t, shared, "a", port(await tls("a", authority)));
    await joined(t, shared, "b", port(await tls("b", authority)));
    // Another authority signed its certificate: nobody answers it, and it believes nobody.
    const stranger = await joined(t, shared, "stranger", port(await tls("stranger")));
    await waitFor("all are known", () => a.names() === "b,stranger" && stranger.names() === "a,b");
    const [fromB, fromStranger] = await a.askAll("greet", "a");
    assert.ok(fromB !== undefined && "answer" in fromB);
    assert.ok(fromStranger !== undefined && "silent" in fromStranger);
    for (const one of await stranger.askAll("greet", "me")) assert.ok("silent" in one);
  });

  it("do not answer another whose certificate was revoked", async (t) => {
    const shared = await store(t);
    const authority = createAuthority("of the fleet");
    const issued = { a: authority.issue("a", "IP:127.0.0.1"), b: authority.issue("b", "IP:127.0.0.1") };
    const crlFile = join(await folder(t), "crl");
    await writeFile(crlFile, authority.revoke([issued.b]));
    const [a, b] = await Promise.all(
      Object.entries(issued).map(async ([name, certificate]) =>
        joined(t, shared, name, port({ ...(await written(t, authority, certificate)), crlFile })),
      ),
    );
    assert.ok(a !== undefined && b !== undefined);
    await waitFor("both are known", () => a.names() === "b" && b.names() === "a");
    assert.deepEqual(await a.askAll("greet", "a"), [{ answer: "b greets a" }]);
    assert.match(JSON.stringify(await b.askAll("greet", "b")), /silent/);
  });

  type Files = Awaited<ReturnType<typeof written>>;
  const ofSpiffe = ["URI:spiffe://mesh.example/xdskit", "URI:spiffe://mesh.example/shop"] as const;
  for (const [what, ofServers, ofAnother, certificates] of [
    [
      "their SPIFFE ID where an agent hands out the certificates",
      ...ofSpiffe,
      (files: Files) => ({ source: tlsSource(files) }),
    ],
    [
      "a SPIFFE ID of the settings",
      ...ofSpiffe,
      (files: Files) => ({ ...files, replicas: { spiffe: "spiffe://mesh.example/xdskit" } }),
    ],
    [
      "a name of the settings",
      ...(["DNS:xdskit-0.pods.test", "DNS:shop.pods.test"] as const),
      (files: Files) => ({ ...files, replicas: { dns: "xdskit-*.pods.test" } }),
    ],
  ] as const) {
    it(`know each other by ${what}, and no other certificate of the same authority`, async (t) => {
      const shared = await store(t);
      const authority = createAuthority("of all");
      // None of them names an address.
      const files = (name: typeof ofServers | typeof ofAnother) => written(t, authority, authority.issue("any", name));
      const a = await joined(t, shared, "a", port(certificates(await files(ofServers))));
      await joined(t, shared, "b", port(certificates(await files(ofServers))));
      const another = await files(ofAnother);
      const shop = await joined(t, shared, "shop", port(another));
      await waitFor("all are known", () => a.names() === "b,shop" && shop.names() === "a,b");
      const [fromB, fromShop] = await a.askAll("greet", "a");
      assert.deepEqual(fromB, { answer: "b greets a" });
      // The token of the store must not reach it.
      assert.match(JSON.stringify(fromShop), /its certificate \(.*shop.*\) is none of a server of the store/);
      // Nor does it get an answer, although it has read the token.
      const [token] = await shared.list("replicas/token");
      const [cert, key] = [await readFile(another.certificateFile), await readFile(another.keyFile)];
      const asked = requestTls(`${a.replicas.self.address}/replica/v1/greet`, {
        method: "POST",
        cert,
        key,
        rejectUnauthorized: false,
        headers: { authorization: `Bearer ${token?.value}` },
      });
      asked.end('"me"');
      const [answer] = await once(asked, "response");
      assert.equal(answer.statusCode, 403);
      assert.deepEqual(JSON.parse(String((await answer.toArray()).join(""))), {
        message: "its certificate is none of a server of the store",
      });
      assert.match(a.refused.join(), /^\/replica\/v1\/greet address 127\.0\.0\.1, certificate .*, a token$/);
      assert.doesNotMatch(a.refused.join(), new RegExp(String(token?.value)));
    });
  }

  it("parse certificates only when their files change", async (t) => {
    const directory = await folder(t);
    const { certificate, key } = createAuthority("an authority").issue("a", "IP:127.0.0.1");
    const [certificateFile, keyFile] = [join(directory, "crt"), join(directory, "key")];
    await writeFile(certificateFile, certificate);
    await writeFile(keyFile, key);
    const tls = { certificateFile, keyFile };
    assert.equal((await readReplicaTls(tls)).cert, (await readReplicaTls(tls)).cert);
  });
});
