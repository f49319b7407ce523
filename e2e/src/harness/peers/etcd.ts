import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { here, type Place } from "../basics/place.js";
import { freePort } from "../basics/ports.js";
import { type Process, startProcess } from "../basics/process.js";

/** One member of a cluster. */
export interface Member {
  readonly name: string;
  readonly endpoint: string;
  /** Starts it, with what it has on disk. */
  start(): Promise<void>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  readonly place: Place;
}

export interface EtcdClusterOptions {
  /** How many members. Default 3. */
  readonly size?: number;
  /** Further options of each member. */
  readonly args?: readonly string[];
  /** That of the clients' URLs. */
  readonly scheme?: "http" | "https";
  /** Where each member runs. Default: on loopback. */
  readonly places?: readonly Place[];
}

/** A real etcd, of one member or several. */
export class EtcdCluster {
  readonly members: readonly Member[];
  readonly directory: string;
  /** The URL of each member for the others. */
  readonly #peers: readonly string[];

  private constructor(members: readonly Member[], directory: string, peers: readonly string[]) {
    this.members = members;
    this.directory = directory;
    this.#peers = peers;
  }

  /** `program` is etcd itself. */
  static async start(
    program: string,
    { size = 3, args = [], scheme = "http", places = [] }: EtcdClusterOptions = {},
  ): Promise<EtcdCluster> {
    const directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-"));
    // Below the kernel's own: a member that starts again must find its port free.
    const ports = await Promise.all(Array.from({ length: 2 * size }, freePort));
    const placeOf = (index: number) => places[index] ?? here;
    const peers = Array.from({ length: size }, (_, index) => `http://${placeOf(index).host}:${ports[size + index]}`);
    const all = namesOf(peers);
    const members = peers.map((peer, index) => {
      const name = `m${index}`;
      const place = placeOf(index);
      const endpoint = `${place.host}:${ports[index]}`;
      const client = `${scheme}://${endpoint}`;
      return member({ name, place, endpoint }, program, [
        ...["--name", name, "--data-dir", join(directory, name), "--log-level", "warn"],
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", all],
        ...["--unsafe-no-fsync", ...args],
      ]);
    });
    const cluster = new EtcdCluster(members, directory, peers);
    await Promise.all(members.map((one) => one.start()));
    return cluster;
  }

  get endpoints(): readonly string[] {
    return this.members.map(({ endpoint }) => endpoint);
  }

  /** Writes a backup. `program` is etcdctl. */
  backUp(program: string, file: string): void {
    this.#control(program, ["--endpoints", this.endpoints[0] ?? "", "snapshot", "save", file]);
  }

  /** Ends all members, and starts them with what a backup has instead of their own data. */
  async restore(program: string, file: string): Promise<void> {
    await Promise.all(this.members.map((one) => one.kill()));
    for (const [index, { name }] of this.members.entries()) {
      const data = join(this.directory, name);
      rmSync(data, { recursive: true });
      this.#control(program, [
        ...["snapshot", "restore", file, "--name", name, "--data-dir", data],
        ...["--initial-cluster", namesOf(this.#peers), "--initial-advertise-peer-urls", this.#peers[index] ?? ""],
      ]);
    }
    await Promise.all(this.members.map((one) => one.start()));
  }

  #control(program: string, args: readonly string[]): void {
    const env = { ...process.env, ETCDCTL_API: "3" };
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8", env });
    assert.equal(status, 0, stderr);
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((one) => one.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function namesOf(peers: readonly string[]): string {
  return peers.map((url, index) => `m${index}=${url}`).join(",");
}

function member(
  { name, place, endpoint }: Pick<Member, "name" | "place" | "endpoint">,
  program: string,
  options: readonly string[],
): Member {
  let running: Process | undefined;
  return {
    name,
    place,
    endpoint,
    async start() {
      const started = startProcess({ name: `etcd-${name}`, ...place.run(program, options) });
      running = started;
      const [host = "", port = ""] = endpoint.split(":");
      for (let tries = 0; tries < 200; tries += 1) {
        if (!started.isRunning()) assert.fail(started.stderr.join("\n"));
        if (await accepts(host, Number(port))) return;
        await sleep(50);
      }
      assert.fail(`${name} does not listen: ${started.stderr.join("\n")}`);
    },
    async kill() {
      const ending = running;
      running = undefined;
      await ending?.stop("SIGKILL");
    },
    signal(signal) {
      if (running?.isRunning() === true) process.kill(running.pid, signal);
    },
  };
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
