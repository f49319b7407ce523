import assert from "node:assert/strict";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@xdskit/client";
import { readSqliteStore } from "@xdskit/store-sqlite";
import { commandFile, eventually, type Running, start, xdskit } from "../../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import { inProcessEnds } from "../../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];

interface Shown {
  readonly state: string;
  readonly step: number;
  readonly reason: string;
  readonly nodes: { readonly reached: number; readonly held: number };
  readonly rejections: readonly { readonly node: string }[];
}

/** A command that a user started. */
class Server implements AsyncDisposable {
  readonly running: Running;

  /** `state`: where in the folder. `temporary`: its folder for temporary files, if it is not the usual one. */
  constructor({ path }: TestFolder, { state = "state", temporary }: { state?: string; temporary?: string } = {}) {
    const places = [join(path, "config"), "--state", join(path, state), "--settings", join(path, "settings.yaml")];
    const args = ["serve", ...places, "--settle", "20ms", ...anyPorts];
    this.running =
      temporary === undefined
        ? xdskit(...args)
        : start("env", [`TMPDIR=${temporary}`, process.execPath, ...process.execArgv, commandFile, ...args]);
  }

  async address(listener: "grpc" | "admin"): Promise<string> {
    const [, address = ""] = await this.running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
    await this.running.seen(/^ready$/m);
    return address;
  }

  async ask(path: string): Promise<unknown> {
    return (await fetch(`http://${await this.address("admin")}/api/v1/${path}`)).json();
  }

  async rollout(): Promise<Shown | undefined> {
    return ((await this.ask("rollouts")) as { readonly rollouts: readonly Shown[] }).rollouts[0];
  }

  async nodes(): Promise<readonly { readonly id: string; readonly streams: readonly object[] }[]> {
    return ((await this.ask("nodes")) as { nodes: readonly { id: string; streams: readonly object[] }[] }).nodes;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.running.kill(signal);
    await this.running.ended();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.running[Symbol.asyncDispose]();
  }
}

/** Nodes that have the cluster `a`. */
class Nodes implements AsyncDisposable {
  readonly #held = new Map<string, string>();
  readonly #open: (() => Promise<void>)[] = [];
  /** The nodes that got the content "2", in the order in which they got it. */
  readonly got: string[] = [];
  /** Those that got another content afterwards. */
  readonly wentBack: string[] = [];
  /** Those whose ids begin so reject what is new. */
  rejecting: string | undefined;

  connect(server: string, ...ids: readonly string[]): void {
    for (const id of ids) {
      const client = createClient({
        servers: [server],
        node: { id },
        checks: { cluster: () => (this.rejecting && id.startsWith(this.rejecting) ? "no" : undefined) },
      });
      this.#held.set(id, "");
      client.watch("cluster", "a", {
        onChanged: ({ message }) => this.#heard(id, "altStatName" in message ? `${message.altStatName}` : ""),
      });
      this.#open.push(() => client.close());
    }
  }

  #heard(id: string, content: string): void {
    this.#held.set(id, content);
    const had = this.got.includes(id);
    if (content === "2" && !had) this.got.push(id);
    if (content !== "2" && had) this.wentBack.push(id);
  }

  having(content: string): readonly string[] {
    return [...this.#held].filter(([, held]) => held === content).map(([id]) => id);
  }

  async allHave(content: string): Promise<void> {
    await eventually(
      async () => this.having(content).length,
      (count) => count === this.#held.size,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#open.map((close) => close()));
  }
}

const content = (word: string) => `${clusterYaml("a")}alt_stat_name: "${word}"\n`;

function folderWith(rollout: string): Promise<TestFolder> {
  return testFolder({ "config/a.yaml": content("1"), "settings.yaml": `rollout: ${rollout}\n` });
}

/** The rollout once both say that it is so. */
async function are(servers: readonly Server[], state: string, step?: number): Promise<Shown> {
  const isSo = (found: Shown | undefined) => found?.state === state && (step === undefined || found.step === step);
  const [first = assert.fail()] = await Promise.all(servers.map((each) => eventually(() => each.rollout(), isSo)));
  return first ?? assert.fail();
}

async function stateIn({ path }: TestFolder, state = "state"): Promise<string> {
  const [name = ""] = await readdir(join(path, state));
  return join(path, state, name);
}

/** Which of them leads, as the store says. */
async function leaderOf(folder: TestFolder, servers: readonly Server[], state?: string): Promise<number> {
  const store = await readSqliteStore(await stateIn(folder, state));
  try {
    const [leader] = await store.shared.list("rollouts/leader");
    return servers.findIndex(({ running: { pid } }) => leader?.value.endsWith(`:${pid}`));
  } finally {
    await store.close();
  }
}

const ids = (prefix: string) => [`${prefix}-1`, `${prefix}-2`];

describe("two servers that were started on one state folder", () => {
  it("count the nodes of both in a rollout, and show the nodes of both", async () => {
    await using folder = await folderWith("{ steps: [{ count: 1 }], soak: 1h }");
    await using one = new Server(folder);
    await one.address("grpc");
    await using other = new Server(folder);
    const [first, second] = [await one.address("grpc"), await other.address("grpc")];
    await using nodes = new Nodes();
    nodes.connect(first, ...ids("one"));
    nodes.connect(second, ...ids("other"));
    await nodes.allHave("1");
    await folder.write("config/a.yaml", content("2"));
    const { nodes: counted } = await are([one, other], "soaking");
    assert.deepEqual([counted.reached, counted.held], [1, 3]);
    await delay(300);
    assert.equal(nodes.having("2").length, 1);
    for (const address of [first, second]) nodes.connect(address, "both");
    const all = ["both", ...ids("one"), ...ids("other")];
    for (const each of [one, other]) {
      const shown = await eventually(
        () => each.nodes(),
        (found) => found.find(({ id }) => id === "both")?.streams.length === 2,
      );
      assert.deepEqual(shown.map(({ id }) => id).sort(), all);
      const { status, out } = await inProcessEnds("status", "--server", await each.address("grpc"), "--json");
      assert.equal(status, 0);
      const said = JSON.parse(out) as { readonly nodes: readonly { readonly id: string }[] };
      assert.deepEqual(said.nodes.map(({ id }) => id).sort(), all);
    }
    // Promoted by the one, while the other may not have heard of it.
    const promote = `http://${await one.address("admin")}/api/v1/rollouts/all/promote`;
    const promoted = (await (await fetch(promote, { method: "POST" })).json()) as Shown;
    assert.deepEqual([promoted.state, promoted.nodes.reached, promoted.nodes.held], ["completed", 6, 0]);
  });

  it("stop a rollout when a node of the server that does not lead it rejects the change", async () => {
    await using folder = await folderWith("{ steps: [{ count: 1 }, { percent: 100 }], soak: 6s }");
    await using one = new Server(folder);
    await using other = new Server(folder);
    const servers = [one, other];
    const addresses = [await one.address("grpc"), await other.address("grpc")];
    await using nodes = new Nodes();
    for (const [at, address] of addresses.entries()) nodes.connect(address, ...ids(`at${at}`));
    await nodes.allHave("1");
    await folder.write("config/a.yaml", content("2"));
    await are(servers, "soaking", 1);
    const leader = await leaderOf(folder, servers);
    assert.ok(leader >= 0, "one of them leads");
    nodes.rejecting = `at${1 - leader}`;
    const { rejections } = await are(servers, "halted");
    assert.ok(rejections.length > 0);
    for (const { node } of rejections) assert.match(node, new RegExp(`^at${1 - leader}-`));
    assert.deepEqual(nodes.wentBack, [], "a node that has it keeps it");
  });

  it("go on with a rollout when the one that leads it is killed, and take each step once", async () => {
    await using folder = await folderWith("{ steps: [{ count: 1 }, { count: 2 }], soak: 1s }");
    await using one = new Server(folder);
    await using other = new Server(folder);
    const servers = [one, other];
    const addresses = [await one.address("grpc"), await other.address("grpc")];
    await using nodes = new Nodes();
    for (const [at, address] of addresses.entries()) nodes.connect(address, ...ids(`at${at}`));
    await nodes.allHave("1");
    const leading = eventually(
      () => leaderOf(folder, servers),
      (at) => at >= 0,
    );
    await folder.write("config/a.yaml", content("2"));
    const leader = await leading;
    const sockets = join(await stateIn(folder), "servers");
    // They stay young however long this takes.
    for (const name of await readdir(sockets)) await utimes(join(sockets, name), Date.now(), Date.now());
    await servers[leader]?.end("SIGKILL");
    const left = servers[1 - leader] ?? assert.fail();
    nodes.connect(addresses[1 - leader] ?? assert.fail(), ...ids(`at${leader}`));
    const steps: string[] = [];
    await eventually(
      async () => {
        const { state = "", step = 0 } = (await left.rollout()) ?? {};
        if (steps.at(-1) !== `${step}`) steps.push(`${step}`);
        return state;
      },
      (state) => state === "completed",
    );
    await nodes.allHave("2");
    assert.deepEqual(nodes.wentBack, []);
    assert.equal(new Set(nodes.got).size, 4);
    assert.match(steps.join(), /^(0,)?(1,)?2$/, "no step is left out");
    assert.match(left.running.err(), /another server of the store is gone/);
    // What the killed one left does not disturb a start, and its socket is gone once it is old.
    assert.equal((await readdir(sockets)).length, 2);
    await left.end("SIGTERM");
    const [name = ""] = await readdir(sockets);
    await utimes(join(sockets, name), 1, 1);
    await using again = new Server(folder);
    await again.address("grpc");
    assert.doesNotMatch(again.running.err(), /warn|error/);
    assert.ok(!(await readdir(sockets)).includes(name));
  });
});

const skip = process.platform === "win32";

describe("a server of a state folder that can listen for others nowhere", { skip }, () => {
  it("leads rollouts while it is alone, and not while another server is there", async () => {
    await using folder = await folderWith("{ steps: [{ count: 1 }], soak: 1h }");
    // No socket fits into these.
    const [state, temporary] = ["x".repeat(100), join(folder.path, "y".repeat(100))];
    await using hidden = new Server(folder, { state, temporary });
    await using nodes = new Nodes();
    nodes.connect(await hidden.address("grpc"), ...ids("hidden"));
    await nodes.allHave("1");
    await hidden.running.seen(/rollouts do not count its nodes/, "err");
    await folder.write("config/a.yaml", content("2"));
    await are([hidden], "soaking", 1);
    assert.equal(await leaderOf(folder, [hidden], state), 0);

    await using other = new Server(folder, { state });
    const address = await other.address("grpc");
    await eventually(
      () => leaderOf(folder, [hidden, other], state),
      (at) => at === 1,
    );
    nodes.connect(address, ...ids("other"), "other-3");
    await eventually(
      async () => nodes.having("1").length,
      (count) => count === 4,
    );
    assert.equal(nodes.having("2").length, 1);
  });
});
