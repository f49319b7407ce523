import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { resourceTypes } from "@xdskit/api";
import { type ChurnFolder, type Contents, createChurnFolder, files } from "./churn-folder.js";
import type { ChurnAnswer, ChurnChange } from "./churn-server.js";
import { randomFrom } from "./random.js";
import { grpcClient, type RawClient } from "./raw-client.js";
import type { TypeName } from "./running-server.js";
import { cluster, listenerOfFile, loadAssignment } from "./test-resources.js";
import { contentOf, nothingInUse, type UsingClient, usingClient } from "./using-client.js";

/** How a server is played with. */
export interface ChurnOptions {
  readonly workers: number;
  readonly seed: number;
  readonly changes: number;
  /** Processes that take all the time that the machine gives them. */
  readonly hogs: number;
  /** Stops the whole server for up to so many milliseconds, at about each third change; 0: never. */
  readonly stallMs: number;
  /** Posts to a worker come up to so many milliseconds late. */
  readonly lateMs: number;
  /** A change that is not everywhere by then is lost. */
  readonly lostMs: number;
}

/** What was played. */
export interface ChurnPlayed {
  readonly changes: number;
  readonly connected: number;
  readonly left: number;
  readonly asked: number;
  readonly rejected: number;
  readonly stalls: number;
  /** Of all changes: how long it took until the last stream had it. */
  readonly slowestMs: number;
}

const types = ["cluster", "endpoint", "listener"] as const;
const mostClients = 10;

const namesOf = (place: string) => [`${place}-a`, `${place}-b`];
const allNames = ["told", ...files].flatMap(namesOf);

/**
 * Plays changes of files and by calls to a server with clients that come, go, ask for other names and reject; throws
 * where a stream is without one of them for too long.
 */
export async function playChurn(options: ChurnOptions): Promise<ChurnPlayed> {
  const folder = await createChurnFolder();
  const hogs = Array.from({ length: options.hogs }, () => spawn(process.execPath, ["-e", "for(;;);"]));
  const program = fileURLToPath(new URL(`./churn-server${extname(import.meta.url)}`, import.meta.url));
  const { workers, lateMs, seed } = options;
  const args = [...process.execArgv, program, workers, folder.path, lateMs, seed];
  const server = spawn(process.execPath, args.map(String), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  try {
    const ended = once(server, "exit").then(() => {
      throw new Error("the server ended");
    });
    ended.catch(() => {});
    const [answer] = await Promise.race([once(server, "message"), ended]);
    return await Promise.race([new Player(options, folder, server, answer.address).play(), ended]);
  } finally {
    for (const child of [server, ...hogs]) child.kill("SIGKILL");
    await folder.remove();
  }
}

type Random = ReturnType<typeof randomFrom>;

interface Client {
  readonly raw: RawClient;
  readonly using: UsingClient;
}

class Player {
  readonly #options: ChurnOptions;
  readonly #folder: ChurnFolder;
  readonly #server: ChildProcess;
  readonly #address: string;
  /** By place: what a file holds, or what the server is told. */
  readonly #held = new Map<string, Contents>(["told", ...files].map((place) => [place, new Map()]));
  #clients: Client[] = [];
  #lastContent = 0;
  /** Where a client may have rejected something: there the next change is, which makes up for it. */
  #places: readonly string[] = [];
  /** Changes that the server was told, and of which it did not say yet that they arrived. */
  #underWay = 0;
  readonly #played = { changes: 0, connected: 0, left: 0, asked: 0, rejected: 0, stalls: 0, slowestMs: 0 };

  constructor(options: ChurnOptions, folder: ChurnFolder, server: ChildProcess, address: string) {
    this.#options = options;
    this.#folder = folder;
    this.#server = server;
    this.#address = address;
    server.on("message", (answer: ChurnAnswer) => {
      if ("arrived" in answer) this.#underWay -= 1;
    });
  }

  async play(): Promise<ChurnPlayed> {
    const random = this.#randomFor("begin");
    for (let count = 0; count < mostClients / 2; count++) this.#connect(random);
    while (this.#played.changes < this.#options.changes) {
      this.#played.changes += 1;
      await this.#step();
    }
    for (const client of this.#clients) this.#leave(client);
    return this.#played;
  }

  /** What is done at the same time has numbers of its own, so that a seed decides them whoever is quicker. */
  #randomFor(what: "begin" | "step" | "change" | "churn" | "stall"): Random {
    const { seed } = this.#options;
    return randomFrom(
      seed * 1_000_003 + this.#played.changes * 5 + ["begin", "step", "change", "churn", "stall"].indexOf(what),
    );
  }

  async #step(): Promise<void> {
    const random = this.#randomFor("step");
    const healing = this.#places;
    const isRemoval = healing.length === 0 && random(8) === 0;
    const places = healing.length > 0 ? healing : somePlaces(random);
    const rejecting = isRemoval || healing.length > 0 || random(4) > 0 ? undefined : this.#pick(random);
    rejecting?.using.reject(true);
    const began = performance.now();
    const actions = [
      this.#change(places, isRemoval),
      this.#churn(rejecting),
      ...(this.#options.stallMs > 0 && random(3) === 0 ? [this.#stall()] : []),
    ];
    await Promise.all(actions);
    await this.#arrive(rejecting, places, began);
    this.#places = rejecting === undefined ? [] : places;
    if (rejecting?.using.reject(false)) this.#played.rejected += 1;
  }

  #pick(random: Random): Client | undefined {
    return this.#clients[random(this.#clients.length)];
  }

  async #change(places: readonly string[], isRemoval: boolean): Promise<void> {
    for (const place of places) {
      const held = this.#held.get(place) as Contents;
      if (isRemoval) held.clear();
      for (const name of isRemoval ? [] : namesOf(place)) {
        this.#lastContent += 1;
        held.set(name, String(this.#lastContent));
      }
    }
    const random = this.#randomFor("change");
    const how = random(3);
    const changed = files.filter((file) => places.includes(file));
    const pauseMs = random(4);
    if (places.includes("told")) {
      this.#underWay += 1;
      this.#server.send(changeOf(this.#held.get("told") as Contents));
    }
    if (pauseMs > 0) await sleep(pauseMs);
    if (changed.length > 0 && how === 0) await this.#folder.swap(this.#held);
    else
      await Promise.all(changed.map((file) => this.#folder.write(file, this.#held.get(file) as Contents, how === 1)));
  }

  async #churn(rejecting: Client | undefined): Promise<void> {
    const random = this.#randomFor("churn");
    for (let times = random(4); times > 0; times--) {
      const client = this.#pick(random);
      const what = random(4);
      const pauseMs = random(6);
      if (what === 0 && this.#clients.length < mostClients) this.#connect(random);
      else if (client === undefined || client === rejecting) continue;
      else if (what === 1 && this.#clients.length > 2) this.#leave(client);
      else {
        this.#played.asked += 1;
        client.using.toggle("endpoint", allNames[random(allNames.length)] as string);
      }
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  async #stall(): Promise<void> {
    const random = this.#randomFor("stall");
    const [beforeMs, stopMs] = [random(30), 1 + random(this.#options.stallMs)];
    await sleep(beforeMs);
    this.#played.stalls += 1;
    this.#server.kill("SIGSTOP");
    await sleep(stopMs);
    this.#server.kill("SIGCONT");
  }

  #connect(random: Random): void {
    this.#played.connected += 1;
    const id = `node-${this.#played.connected}`;
    const raw = grpcClient(resourceTypes, this.#address);
    const asked = new Map<TypeName, Set<string>>([
      ["cluster", new Set()],
      ["endpoint", new Set(allNames.filter((_, index) => index === 0 || random(2) === 0))],
      ["listener", new Set()],
    ]);
    const variant = random(2) === 0 ? "sotw" : "delta";
    const settings = { id, cluster: "", variant, isPerType: random(3) === 0, asked, inUse: nothingInUse() } as const;
    this.#clients.push({ raw, using: usingClient(raw, settings) });
  }

  #leave(client: Client): void {
    this.#played.left += 1;
    this.#clients = this.#clients.filter((each) => each !== client);
    client.using.leave();
    client.raw.close();
  }

  async #arrive(rejecting: Client | undefined, places: readonly string[], began: number): Promise<void> {
    for (;;) {
      const missing: string[] = [];
      for (const client of this.#clients) {
        client.using.answer(undefined);
        if (client !== rejecting) missing.push(...this.#missing(client.using));
      }
      if (this.#underWay > 0) missing.push("the server does not say that it arrived");
      const tookMs = performance.now() - began;
      if (missing.length === 0) {
        this.#played.slowestMs = Math.max(this.#played.slowestMs, tookMs);
        return;
      }
      if (tookMs > this.#options.lostMs) {
        const what = `change ${this.#played.changes} of ${places.join(" and ")}`;
        throw new Error(`${what} is not everywhere after ${Math.round(tookMs)} ms:\n${missing.join("\n")}`);
      }
      await sleep(1);
    }
  }

  /** What a client does not have as it is. */
  #missing({ id, variant, isPerType, asked, inUse }: UsingClient): string[] {
    const found: string[] = [];
    const who = `${id} (${variant}${isPerType ? ", a stream for each type" : ""})`;
    for (const type of types) {
      const names = asked.get(type);
      for (const held of this.#held.values()) {
        for (const [name, content] of held) {
          if (names !== undefined && names.size > 0 && !names.has(name)) continue;
          if (inUse.get(type)?.get(name)?.content === contentOf(type, messageOf(type, name, content))) continue;
          found.push(`${who} has not ${type} ${name} ${content}`);
        }
      }
      // State of the world has no word for a load assignment that is gone.
      if (type === "endpoint" && variant === "sotw") continue;
      for (const name of inUse.get(type)?.keys() ?? []) {
        if (![...this.#held.values()].some((held) => held.has(name))) found.push(`${who} still has ${type} ${name}`);
      }
    }
    return found;
  }
}

function somePlaces(random: Random): readonly string[] {
  const all = ["told", ...files];
  const first = all[random(all.length)] as string;
  const second = all[random(all.length)] as string;
  return first === second ? [first] : [first, second].slice(random(2));
}

function messageOf(type: TypeName, name: string, content: string) {
  if (type === "cluster") return cluster(name, content);
  return type === "endpoint" ? loadAssignment(name, Number(content)) : listenerOfFile(name, content);
}

function changeOf(contents: Contents): ChurnChange {
  const all = Object.fromEntries(contents);
  return { cluster: all, endpoint: all, listener: all };
}
