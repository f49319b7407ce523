import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { createResource, envoyRegistry, type Finding, type Resource, resourceTypes } from "@xdskit/api";
import type { RolloutPeer, SharedRollouts } from "../contracts/rollouts/rollout-sharing.js";
import type { SharedKeys, SharedPut, SharedSession } from "../contracts/stores/shared-keys.js";
import type { Store } from "../contracts/stores/store.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { createServer } from "../create-server.js";
import type { GroupSettings } from "../settings/group-settings.js";
import { createMemoryStore } from "../stores/tables/memory-store.js";
import { WrittenLayers } from "../stores/written/written-layers.js";
import { createMemoryTransport } from "../transports/memory/memory-transport.js";
import { manualClock } from "./basics/manual-clock.js";
import { type JudgingClient, type JudgingOptions, judgingClient } from "./clients/judging-client.js";
import { cluster } from "./test-resources.js";
import { lent, withMethods } from "./with-methods.js";

const reading = { types: resourceTypes, registry: envoyRegistry() };
const by = { author: "me", cause: { kind: "api", caller: "" }, message: "" } as const;

/** One of several servers of a store. */
export interface RolloutServer {
  readonly name: string;
  readonly server: XdsServer;
  readonly shared: SharedRollouts;
  readonly clock: ReturnType<typeof manualClock>;
  /** Whether the others know it, and whether it answers them. */
  isMember: boolean;
  isSilent: boolean;
  /** Whether it knows who the others are. */
  knowsPeers: boolean;
  /** What went wrong with its rollouts. */
  readonly problems: readonly Finding[];
  connect(options: JudgingOptions): JudgingClient;
  /** Cluster `a` and others get these contents, at all servers; undefined: it goes. */
  write(contents: Readonly<Record<string, string | undefined>>): Promise<void>;
  /** Ends as by SIGKILL: it says nothing to the store any more, which takes it for dead. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Servers that carry out rollouts of group `edge` together. */
export class RolloutServers {
  readonly store: Store;
  readonly #group: Partial<GroupSettings>;
  readonly #all: RolloutServer[] = [];
  /** What servers have put, one after the other. */
  readonly puts: SharedPut[] = [];
  #count = 0;

  private constructor(store: Store, group: Partial<GroupSettings>) {
    this.store = store;
    this.#group = group;
  }

  static async create(group: Partial<GroupSettings>): Promise<RolloutServers> {
    return new RolloutServers(await createMemoryStore(), group);
  }

  get all(): readonly RolloutServer[] {
    return this.#all;
  }

  /**
   * `store`: where it reads and writes, if not in the store itself; it may be away. `meanwhile`: after it has read the
   * store, and before it follows it. `early`: after it follows it, and before it tells nodes anything.
   */
  async start(
    store: Store = this.store,
    meanwhile?: () => Promise<void>,
    early?: (server: RolloutServer) => Promise<void>,
  ): Promise<RolloutServer> {
    this.#count += 1;
    const name = `server ${this.#count}`;
    const clock = manualClock();
    const server = createServer({ clock, groups: [{ name: "edge", match: {}, layers: ["own"], ...this.#group }] });
    const keys = mortal(store.shared, (put) => this.puts.push(put));
    const peers = () =>
      started.knowsPeers ? this.#all.filter((each) => each.isMember && each.name !== name).map(peerOf) : undefined;
    const problems: Finding[] = [];
    const problem = (finding: Finding | undefined) => void (finding && problems.push(finding));
    const shared = await server.shareRollouts({
      replica: name,
      peers,
      registry: reading.registry,
      problem,
      store: withMethods(store, { shared: keys.shared }),
    });
    const written = await WrittenLayers.open({
      store: lent(store),
      server,
      retention: { revisions: 100, since: 0 },
      ...reading,
      layers: ["own"],
      onProblem: (findings) => store === this.store && assert.fail(JSON.stringify(findings)),
    });
    const transport = createMemoryTransport();
    const address = await server.listenOn(transport, "here");
    let come = () => {};
    const hasCome = new Promise<void>((resolve) => {
      come = resolve;
    });
    const close = async () => {
      const at = this.#all.findIndex((each) => each.name === name);
      if (at >= 0) this.#all.splice(at, 1);
      await server.close({ timeoutMs: 100 });
    };
    const started: RolloutServer = {
      name,
      server,
      shared,
      clock,
      problems,
      isMember: true,
      isSilent: false,
      knowsPeers: true,
      connect: (options) => judgingClient(transport, address, options),
      async write(contents) {
        const upsert: Resource[] = [];
        const remove: { type: Resource["type"]; name: string }[] = [];
        for (const [each, content] of Object.entries(contents)) {
          if (content === undefined) remove.push({ type: clusterType, name: each });
          else upsert.push(createResource(cluster(each, content)));
        }
        const info = { ...by, time: Date.now() };
        const result = await written.write({ layer: "own", upsert, remove, replace: false, info });
        assert.equal(result.kind, "written");
      },
      async kill() {
        await keys.kill();
        await close();
      },
      async close() {
        await shared.close();
        await close();
      },
    };
    await meanwhile?.();
    const last = server.addSource({ name: "last", start: async () => await hasCome, close: async () => {} });
    await server.addSource(written);
    this.#all.push(started);
    await early?.(started);
    come();
    await last;
    return started;
  }

  /** Lets a little time go by at all servers, again and again, until it is so. */
  async until(what: string, isSo: () => boolean, stepMs = 50): Promise<void> {
    for (let tries = 0; !isSo(); tries += 1) {
      assert.ok(tries < 2_000, `${what}: ${JSON.stringify(this.#all.map(({ server }) => server.rollouts()))}`);
      await this.pass(stepMs);
    }
  }

  async pass(milliseconds: number): Promise<void> {
    for (const { clock } of this.#all) clock.advance(milliseconds);
    for (let turns = 0; turns < 3; turns += 1) await turn();
  }

  async close(): Promise<void> {
    for (const each of [...this.#all]) await each.close();
    await this.store.close();
  }
}

const clusterType = createResource(cluster("any", "1")).type;

function peerOf(of: RolloutServer): RolloutPeer {
  return {
    name: of.name,
    counts: async (asked) => {
      if (of.isSilent) throw new Error("it did not answer");
      return JSON.parse(JSON.stringify(of.shared.counts(asked)));
    },
  };
}

/** Shared keys for somebody who may be killed: nothing of it is heard then, and its sessions are over. */
function mortal(
  shared: SharedKeys,
  done: (put: SharedPut) => void,
): { readonly shared: SharedKeys; kill(): Promise<void> } {
  const sessions: SharedSession[] = [];
  let isDead = false;
  const alive = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Error("it is dead");
    return await call();
  };
  return {
    shared: {
      list: (prefix) => alive(() => shared.list(prefix)),
      put: (put) =>
        alive(async () => {
          const version = await shared.put(put);
          if (version !== undefined) done(put);
          return version;
        }),
      remove: (...which) => alive(() => shared.remove(...which)),
      async session(options) {
        const session = await alive(() => shared.session(options));
        sessions.push(session);
        return session;
      },
      watch: (...watched) => shared.watch(...watched),
    },
    async kill() {
      isDead = true;
      for (const session of sessions) await session.close();
    },
  };
}
