import assert from "node:assert/strict";
import { chmodSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { openSqliteStore } from "@xdskit/store-sqlite";
import { grpcClient } from "../../../server/src/testing/clients/raw-client.js";
import { delta } from "../../../server/src/testing/clients/xds-client.js";
import { ads, urlOf } from "../../../server/src/testing/running-server.js";
import { SqliteTables } from "../../../store-sqlite/src/sqlite-tables.js";
import { stateFolder, stateOfFolder } from "../daemon/revisions/state.js";
import { commandFile, eventually, start } from "../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

/** Runs the server as a user who may not write: root may everything. */
const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

/** A server on a folder, with a state of its own. */
class Server implements AsyncDisposable {
  readonly running: RunningServer;

  constructor(folder: TestFolder, state: string, ...further: readonly string[]) {
    const args = ["serve", folder.path, "--state", state, "--settle", "20ms", ...anyPorts];
    const isOther = further[0] === asNobody[0] && further.length > 0;
    if (!isOther) this.running = servesHere(...args, ...further);
    else {
      const [program = "", ...rest] = [...further, process.execPath, ...process.execArgv, commandFile, ...args];
      this.running = start(program, rest);
    }
  }

  async address(listener: "grpc" | "admin"): Promise<string> {
    const [, address = ""] = await this.running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
    return address;
  }

  /** The clusters that it serves, sorted. */
  async names(): Promise<string> {
    await this.running.seen(/^ready$/m);
    const { out } = await inProcessEnds(
      "get",
      "--type",
      "cluster",
      "--server",
      await this.address("grpc"),
      "-o",
      "name",
    );
    return out.trim().split("\n").sort().join(" ");
  }

  async readyz(): Promise<{ readonly status: number; readonly body: string }> {
    const answer = await fetch(`http://${await this.address("admin")}/readyz`);
    return { status: answer.status, body: await answer.text() };
  }

  async stop(): Promise<void> {
    this.running.kill("SIGTERM");
    assert.equal((await this.running.ended()).status, 0, this.running.err());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.running[Symbol.asyncDispose]();
  }
}

/** Serves a folder once, so that its last good revision is kept. */
async function served(folder: TestFolder, state: string): Promise<void> {
  await using server = new Server(folder, state);
  await server.running.seen(/^ready$/m);
  await server.stop();
}

const broken = clusterYaml("b", "never");

describe("a server that starts with a folder that has errors", () => {
  it("serves the last good revision whole, says so, and goes on with the folder once it is fixed", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": clusterYaml("b") });
    await using state = await testFolder();
    await served(folder, state.path);

    await folder.write("b.yaml", broken);
    await folder.write("c.yaml", clusterYaml("c"));
    await using server = new Server(folder, state.path);
    assert.equal(await server.names(), "cluster/a cluster/b");
    const { status, body } = await server.readyz();
    assert.equal(status, 200);
    assert.match(body, /^degraded: folder \S+ has errors; its revision \S{22} of 20\S+Z is served\n {2}\S*b\.yaml:3/);
    assert.match(server.running.err(), /the folder has errors: its last good revision is served/);
    const metrics = await (await fetch(`http://${await server.address("admin")}/metrics`)).text();
    assert.match(metrics, /^xdskit_source_restored\{source="folder [^"]+"\} 1$/m);

    await folder.write("b.yaml", clusterYaml("b", "2s"));
    await eventually(
      () => server.readyz(),
      ({ body: text }) => text === "ready\n",
    );
    assert.equal(await server.names(), "cluster/a cluster/b cluster/c");
    await server.stop();
  });

  for (const [what, spoil] of Object.entries({
    "that has no valid file": (path: string) => {
      rmSync(join(path, "a.yaml"));
      writeFileSync(join(path, "b.yaml"), broken);
    },
    "that is empty": (path: string) => rmSync(join(path, "a.yaml")),
    "that is gone": (path: string) => rmSync(path, { recursive: true }),
  })) {
    it(`serves the last good revision of a folder ${what}`, async () => {
      await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
      await using state = await testFolder();
      await served(folder, state.path);
      spoil(folder.path);
      await using server = new Server(folder, state.path, "--allow-partial");
      assert.equal(await server.names(), "cluster/a");
      assert.match((await server.readyz()).body, /^degraded: /);
      await server.stop();
    });
  }

  it("opens no port for clients where nothing was kept, and says why", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": broken });
    await using state = await testFolder();
    await using server = new Server(folder, state.path);
    await server.address("admin");
    const { status, body } = await server.readyz();
    assert.equal(status, 503);
    assert.match(body, /b\.yaml:3/);
    assert.equal((await fetch(`http://${await server.address("admin")}/livez`)).status, 200);
    assert.doesNotMatch(server.running.out(), /grpc|rest|ready/);
    await folder.write("b.yaml", clusterYaml("b"));
    assert.equal(await server.names(), "cluster/a cluster/b");
    assert.equal((await server.readyz()).body, "ready\n");
    await server.stop();
  });

  it("opens no port where a part of the folder was never served, and takes nothing from other groups", async () => {
    const settings = (folder: string) => `groups:
  - { name: edge, match: { id: edge }, folders: [${folder}] }
  - { name: rest, match: {}, folders: [r] }
`;
    const files = { "a/a.yaml": clusterYaml("a"), "r/r.yaml": clusterYaml("r"), "b/b.yaml": broken };
    await using folder = await testFolder({ "xdskit.yaml": settings("a"), ...files });
    await using state = await testFolder();
    await served(folder, state.path);
    await folder.write("xdskit.yaml", settings("b"));
    await using server = new Server(folder, state.path);
    await server.address("admin");
    const { status, body } = await server.readyz();
    assert.equal(status, 503);
    assert.match(body, /b\.yaml:3/);
    assert.doesNotMatch(server.running.out(), /grpc|rest|ready/);
    await folder.write("b/b.yaml", clusterYaml("b"));
    assert.equal(await server.names(), "cluster/r");
    await server.stop();
  });

  it("with --allow-partial serves the files without errors, which are no good revision", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": broken });
    await using state = await testFolder();
    for (let start = 0; start < 2; start += 1) {
      await using server = new Server(folder, state.path, "--allow-partial");
      assert.equal(await server.names(), "cluster/a");
      await server.stop();
    }
  });

  it("with --allow-partial says what it leaves out, also after a further edit, until there are no errors", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": broken });
    await using state = await testFolder();
    await using server = new Server(folder, state.path, "--allow-partial");
    const statusLine = async (address: string) =>
      (await inProcessEnds("status", "--server", address)).out.split("\n")[0];
    const inPart = async () => {
      const { status, body } = await server.readyz();
      assert.equal(status, 200);
      assert.match(
        body,
        /^degraded: folder \S+ has errors, and is served without the files that have them\n {2}\S*b\.yaml:3/,
      );
      for (const address of [await server.address("grpc"), `http://${await server.address("admin")}`])
        assert.match(
          (await statusLine(address)) ?? "",
          /^folder \S+ has errors, and is served without what has them: \S*b\.yaml:3/,
        );
    };
    await server.running.seen(/^ready$/m);
    await inPart();
    await folder.write("c.yaml", clusterYaml("c"));
    await server.running.seen(/change refused/, "err");
    await inPart();
    await server.stop();
    {
      // What it served was no good revision.
      await using next = new Server(folder, state.path, "--allow-partial");
      assert.equal(await next.names(), "cluster/a cluster/c");
      await folder.write("b.yaml", clusterYaml("b"));
      await next.running.seen(/configuration applied[\s\S]*configuration applied/, "err");
      assert.equal((await next.readyz()).body, "ready\n");
      assert.equal(await statusLine(await next.address("grpc")), "no nodes");
      await next.stop();
    }
  });
});

describe("a state that a server cannot use as it was", () => {
  const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const fileOf = (folder: TestFolder, state: TestFolder) =>
    join(stateFolder(state.path, stateOfFolder(folder.path)) ?? "", "revisions.db");

  /** Serves a folder once, with a cluster that is written over the API. */
  async function written(folder: TestFolder, state: TestFolder): Promise<void> {
    await using server = new Server(folder, state.path);
    await server.running.seen(/^ready$/m);
    const upsert = Array.from({ length: 50 }, (_, index) => ({ "@type": clusterUrl, name: `written-${index}` }));
    const body = JSON.stringify({ upsert: [{ "@type": clusterUrl, name: "written" }, ...upsert] });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const answer = await fetch(`http://${await server.address("admin")}/api/v1/layers/api/changes`, init);
    assert.equal(answer.status, 200);
    await server.stop();
  }

  /** It is said everywhere where somebody looks. */
  async function assertTold(server: Server, what: RegExp): Promise<void> {
    await server.running.seen(/^ready$/m);
    const { status, body } = await server.readyz();
    assert.equal(status, 200);
    assert.match(body, /^degraded: /);
    assert.match(body, what);
    const admin = `http://${await server.address("admin")}`;
    assert.match(await (await fetch(`${admin}/metrics`)).text(), /^xdskit_state_degraded 1$/m);
    const { problems } = (await (await fetch(`${admin}/api/v1/problems`)).json()) as {
      problems: { kind: string; detail: string }[];
    };
    assert.match(problems.find(({ kind }) => kind === "store")?.detail ?? "", what);
    assert.match((await inProcessEnds("status", "--server", await server.address("grpc"))).out, what);
  }

  it("is set aside if it is cut off, and what was written is said to be missing", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    await written(folder, state);
    truncateSync(fileOf(folder, state), 8_192);
    await using server = new Server(folder, state.path);
    assert.equal(await server.names(), "cluster/a");
    await assertTold(server, /what was written over the API before is not served.*it was set aside/);
    await server.stop();
  });

  it("is set aside at the first start if it lacks contents", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    await written(folder, state);
    const file = fileOf(folder, state);
    const tables = new SqliteTables(file);
    const removed = await tables.write((writer) => {
      const keys = [...writer.range("contents", "")].map(([key]) => key);
      for (const key of keys) writer.remove("contents", key);
      return keys.length;
    });
    assert.ok(removed > 50);
    await tables.close();
    // The file that was closed is not the one that is opened.
    chmodSync(file, 0o600);
    await using server = new Server(folder, state.path);
    assert.equal(await server.names(), "cluster/a");
    await assertTold(server, /what was written over the API before is not served.*a content is missing/);
    assert.ok(readdirSync(join(file, "..")).some((name) => name.includes(".set-aside-")));
    await server.stop();
  });

  it("of a newer xdskit is left as it is, and what was written is said to be missing", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    await written(folder, state);
    const tables = new SqliteTables(fileOf(folder, state));
    await tables.write((writer) => writer.put("meta", "format", 99));
    await tables.close();
    await using server = new Server(folder, state.path);
    assert.equal(await server.names(), "cluster/a");
    await assertTold(server, /what was written over the API before is not served.*in format 99/);
    await server.stop();
  });

  it("is missed everywhere where none can be made", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder({ file: "" });
    await using server = new Server(folder, join(state.path, "file/below"));
    assert.equal(await server.names(), "cluster/a");
    await assertTold(server, /^(?!.*what was written).*the state: .*ENOTDIR.*; no revisions are kept/m);
    await server.stop();
  });

  it("is read and served if it cannot be written, and changes are refused", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    const config: TestFolder = { ...folder, path: join(folder.path, "config") };
    await written(config, state);
    for (const path of [folder.path, state.path, config.path]) chmodSync(path, 0o755);
    const own = join(fileOf(config, state), "..");
    for (const name of readdirSync(own)) chmodSync(join(own, name), 0o444);
    chmodSync(own, 0o555);
    await using server = new Server(config, state.path, ...asNobody);
    assert.match(await server.names(), /^cluster\/a cluster\/written cluster\/written-0 /);
    await assertTold(server, /the state: it cannot be written \(EACCES\)/);
    const path = `http://${await server.address("admin")}/api/v1/layers/api/resources/cluster/written`;
    const refused = await fetch(path, { method: "DELETE" });
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /XDSKIT_STORE/);
    assert.equal((await fetch(path)).status, 200);
    await server.stop();
    chmodSync(own, 0o755);
  });
});

describe("the state of a server", () => {
  it("has a revision of each change, with the files that changed", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    // A file that was written a moment before it was read is read again with the next change.
    await utimes(join(folder.path, "a.yaml"), 1, 1);
    await using state = await testFolder();
    await using server = new Server(folder, state.path);
    await server.running.seen(/^ready$/m);
    await folder.write("b.yaml", clusterYaml("b"));
    await eventually(
      () => server.names(),
      (names) => names === "cluster/a cluster/b",
    );
    await folder.remove("a.yaml");
    await eventually(
      () => server.names(),
      (names) => names === "cluster/b",
    );
    await server.stop();
    const { store } = await openSqliteStore(stateFolder(state.path, stateOfFolder(folder.path)) ?? "");
    const history = await store.history(".", { limit: 10 });
    assert.deepEqual(
      history.map(({ number, upserted, removed }) => [number, upserted, removed]),
      [
        [3, 0, 1],
        [2, 1, 0],
        [1, 1, 0],
      ],
    );
    assert.deepEqual(history[1]?.cause, { kind: "files", files: ["b.yaml"] });
    await store.close();
  });

  it("names in each revision the files of the resources that changed, before and after, and no others", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b"),
      "d.yaml": clusterYaml("d"),
    });
    await using state = await testFolder();
    await using server = new Server(folder, state.path);
    await server.running.seen(/^ready$/m);
    type Listed = { readonly number: number; readonly cause: { readonly files: readonly string[] } };
    const filesOf = async (number: number) => {
      const newest = async (): Promise<Listed | undefined> => {
        const answer = await fetch(`http://${await server.address("admin")}/api/v1/revisions`);
        return ((await answer.json()) as { readonly revisions: readonly Listed[] }).revisions[0];
      };
      return (await eventually(newest, (one) => one?.number === number))?.cause.files;
    };
    assert.deepEqual(await filesOf(1), ["a.yaml", "b.yaml", "d.yaml"]);
    // The change of one file has to wait until another one is right.
    await folder.write("b.yaml", broken);
    await folder.write("a.yaml", clusterYaml("a", "2s"));
    await server.running.seen(/change refused/, "err");
    await folder.write("b.yaml", clusterYaml("b", "2s"));
    assert.deepEqual(await filesOf(2), ["a.yaml", "b.yaml"]);
    await folder.remove("a.yaml");
    assert.deepEqual(await filesOf(3), ["a.yaml"]);
    // It moves, and changes.
    await folder.write("c.yaml", clusterYaml("b", "3s"));
    await folder.remove("b.yaml");
    assert.deepEqual(await filesOf(4), ["b.yaml", "c.yaml"]);
    // A file is read, and says the same.
    await folder.write("d.yaml", `# The same\n${clusterYaml("d")}`);
    await folder.write("c.yaml", clusterYaml("b", "4s"));
    assert.deepEqual(await filesOf(5), ["c.yaml"]);
    // It moves, and is changed only then.
    await folder.write("e.yaml", clusterYaml("b", "4s"));
    await folder.remove("c.yaml");
    await folder.write("e.yaml", clusterYaml("b", "5s"));
    await filesOf(6);
    await folder.remove("e.yaml");
    assert.deepEqual(await filesOf(7), ["e.yaml"]);
    await server.stop();
  });

  it("names in the first revision of each group's folder the files of that folder", async () => {
    const groups = ["edge", "rest"].map(
      (name) => `  - { name: ${name}, match: { id: ${name} }, folders: [${name}] }\n`,
    );
    await using folder = await testFolder({
      "xdskit.yaml": `groups:\n${groups.join("")}`,
      "edge/a.yaml": clusterYaml("a"),
      "rest/r.yaml": clusterYaml("r"),
    });
    await using state = await testFolder();
    await using server = new Server(folder, state.path);
    await server.running.seen(/^ready$/m);
    type Listed = { readonly layer: string; readonly cause: { readonly files: readonly string[] } };
    const files = async () => {
      const answer = await fetch(`http://${await server.address("admin")}/api/v1/revisions`);
      const { revisions } = (await answer.json()) as { readonly revisions: readonly Listed[] };
      return revisions.map(({ layer, cause }) => [layer, ...cause.files].join(" ")).sort();
    };
    const expected = ["edge edge/a.yaml", "rest rest/r.yaml"];
    assert.deepEqual(await eventually(files, (found) => found.length === 2), expected);
    await server.stop();
  });

  it("names in the first revision after a restart the files with what changed meanwhile", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b"),
      "c.yaml": clusterYaml("c"),
    });
    await using state = await testFolder();
    const newest = async (server: Server) => {
      const answer = await fetch(`http://${await server.address("admin")}/api/v1/revisions`);
      const { revisions } = (await answer.json()) as {
        readonly revisions: readonly {
          readonly number: number;
          readonly cause: { readonly files: readonly string[] };
        }[];
      };
      return revisions[0];
    };
    const filesAfterStart = async (number: number) => {
      await using server = new Server(folder, state.path);
      await server.running.seen(/^ready$/m);
      const files = (
        await eventually(
          () => newest(server),
          (one) => one?.number === number,
        )
      )?.cause.files;
      await server.stop();
      return files;
    };
    assert.deepEqual(await filesAfterStart(1), ["a.yaml", "b.yaml", "c.yaml"]);
    await folder.write("b.yaml", clusterYaml("b", "2s"));
    await folder.write("new.yaml", clusterYaml("new"));
    await folder.remove("c.yaml");
    assert.deepEqual(await filesAfterStart(2), ["b.yaml", "new.yaml"]);
    await folder.remove("new.yaml");
    assert.deepEqual(await filesAfterStart(3), []);
  });

  it("keeps the revision that a connected client uses which does not answer, where fewer are to be kept", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "xdskit.yaml": "state: { revisions: 3 }\n",
    });
    await using state = await testFolder();
    await using server = new Server(folder, state.path);
    await server.running.seen(/^ready$/m);
    const client = grpcClient(resourceTypes, await server.address("grpc"));
    const typeUrl = urlOf("cluster");
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id: "n1" }, typeUrl });
    stream.send({ typeUrl, responseNonce: (await stream.next()).nonce });
    const admin = `http://${await server.address("admin")}`;
    for (let number = 1; number <= 13; number += 1) {
      const file = await state.write("own.yaml", clusterYaml("own", `${number}s`));
      assert.equal((await inProcessEnds("apply", "-f", file, "--server", admin)).status, 0);
    }
    const answer = await fetch(`${admin}/api/v1/revisions?layer=api`);
    assert.equal(((await answer.json()) as { readonly revisions: readonly unknown[] }).revisions.length, 13);
    client.close();
    await server.stop();
  });

  it("gets no new revision from a start with the same files", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder();
    await served(folder, state.path);
    await served(folder, state.path);
    const { store } = await openSqliteStore(stateFolder(state.path, stateOfFolder(folder.path)) ?? "");
    assert.equal((await store.history(".", { limit: 10 })).length, 1);
    await store.close();
  });

  it("is left out with one warning where it cannot be written", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using state = await testFolder({ file: "" });
    await using server = new Server(folder, join(state.path, "file/below"));
    assert.equal(await server.names(), "cluster/a");
    const warnings = server.running.err().match(/XDSKIT_STORE/g) ?? [];
    assert.equal(warnings.length, 1, server.running.err());
    assert.match(server.running.err(), /cannot be opened: ENOTDIR; no revisions are kept/);
    await server.stop();
  });

  it("is where the option, systemd or the user's folders say", () => {
    const env = { STATE_DIRECTORY: "/var/lib/xdskit:/other", XDG_STATE_HOME: "/home/a/state" };
    assert.equal(stateFolder("off", stateOfFolder("config"), env), undefined);
    assert.match(stateFolder("/s", stateOfFolder("/etc/config"), env) ?? "", /^\/s\/config-[\w-]{12}$/);
    assert.match(
      stateFolder(undefined, stateOfFolder("/etc/config"), env) ?? "",
      /^\/var\/lib\/xdskit\/config-[\w-]{12}$/,
    );
    const own = stateFolder(undefined, stateOfFolder("/etc/config"), { XDG_STATE_HOME: "/home/a/state" }) ?? "";
    assert.match(own, /^\/home\/a\/state\/xdskit\/config-[\w-]{12}$/);
    assert.notEqual(stateFolder(undefined, stateOfFolder("/other/config"), { XDG_STATE_HOME: "/home/a/state" }), own);
    assert.ok(
      stateFolder(undefined, stateOfFolder("/etc/config"), { XDG_STATE_HOME: "relative" })?.startsWith(homedir()),
    );
  });
});
