import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { askAll } from "@xdskit/admin/listener";
import { type Finding, XdskitError } from "@xdskit/api";
import type { CallerRefused, ClientStatusPage, RolloutPeer, SharedKeys, StatusPeer, TimeLeft } from "@xdskit/server";
import type { Address } from "@xdskit/server/address";
import type { FolderVersions, OtherFolder } from "../../daemon/replicas/folder-comparison.js";
import { HiddenReplica } from "../../daemon/replicas/hidden-replica.js";
import type { ReplicaAnswers } from "../../daemon/replicas/questions.js";
import type { ReplicaAddress } from "../../daemon/replicas/replica-listener.js";
import type { ReplicaCertificates } from "../../daemon/replicas/replica-tls.js";
import { Replicas } from "../../daemon/replicas/replicas.js";
import type { Replica } from "../../daemon/replicas/replicas-there.js";
import type { WorkerSlot } from "../../daemon/workers/worker-slot.js";
import { version } from "../../process/version.js";

/** How a server finds the other servers of its store. */
export interface PeeringOptions {
  readonly shared: SharedKeys | undefined;
  /** Where the store is, if it is in a folder of this machine. */
  readonly state: { readonly directory: string; readonly isWritable: boolean } | undefined;
  /** One of several processes of this machine. */
  readonly worker: WorkerSlot | undefined;
  /** Where the servers of other machines ask this one. */
  readonly listen: Address | undefined;
  readonly advertise: string | undefined;
  readonly tls: ReplicaCertificates | undefined;
  readonly gone: (replica: Replica) => void;
  /** Another server does not say what its nodes answer to a rollout; undefined: it does again. */
  readonly silent: (name: string, reason: string | undefined) => void;
  readonly problem: (finding: Finding | undefined) => void;
  /** Told who asked this server and is none of the store's. */
  readonly refused: (refused: CallerRefused) => void;
}

/** A server that does not say for this many milliseconds what its nodes answer is asked again. */
const countsMs = 2_000;
/**
 * How long a server counts that does not answer and is not known to be gone, in milliseconds: it may have renewed a
 * lease.
 */
const perhapsMs = 3_000;
/** It is tried again to join the others after this many milliseconds. */
const retryMs = 1_000;

/** The other servers of the store, once this one has joined them. */
export class Peering {
  /** What this server is called among them. */
  readonly name: string;
  readonly #options: PeeringOptions;
  readonly #stopped = new AbortController();
  #replicas: Replicas | undefined;
  #joining: Promise<void> | undefined;
  /** It cannot listen, and no other server knows of it. */
  #hidden: HiddenReplica | undefined;
  readonly #silent = new Set<string>();

  constructor(options: PeeringOptions) {
    const { worker } = options;
    this.#options = options;
    this.name = worker === undefined ? `${hostname()}:${process.pid}` : `worker ${worker.slot}`;
  }

  /** Several servers may share the store, and can ask each other. */
  get isPossible(): boolean {
    return this.#options.shared !== undefined && this.#ownAddress() !== undefined;
  }

  /** Others are known by their certificates: not every one of the authority counts. */
  get knowsOthers(): boolean {
    const { tls } = this.#options;
    return tls?.replicas !== undefined || tls?.source !== undefined;
  }

  /** Nobody said that there are others, and none is there. */
  get isAlone(): boolean {
    return !this.isSpread && this.#others().length === 0;
  }

  /** As `isAlone`, and no other one can be there without being known. */
  get isSurelyAlone(): boolean {
    const isKnown = this.#options.shared === undefined || this.#replicas?.isKnown === true;
    return this.isAlone && isKnown;
  }

  /** Clients come to this server and to others by one address. */
  get isSpread(): boolean {
    const { shared, worker, listen } = this.#options;
    return shared !== undefined && (worker ?? listen) !== undefined;
  }

  /** The others, as they are known now. */
  readonly peers = () =>
    this.#others().map((replica) => ({
      name: replica.name,
      ask: (question: string, asked: unknown, timeoutMs?: number) => this.#ask(replica, question, asked, timeoutMs),
    }));

  /** The others, as client status asks them. */
  readonly statusPeers = (): readonly StatusPeer[] =>
    this.peers().map(({ name, ask }) => ({
      name,
      ask: async (asked) => (await ask("clientStatus", asked)) as ClientStatusPage,
    }));

  /** All others, for rollouts that are one for all; undefined: it is not known who is there. */
  readonly rolloutPeers = async (): Promise<readonly RolloutPeer[] | undefined> => {
    if (!this.isPossible) return [];
    if (this.#hidden !== undefined) return (await this.#hidden.isAlone()) ? [] : undefined;
    if (this.#replicas?.isKnown !== true) return undefined;
    return this.#others().map((replica) => ({ name: replica.name, counts: (asked) => this.#counts(replica, asked) }));
  };

  async #counts(replica: Replica, asked: unknown): Promise<unknown> {
    const { name } = replica;
    try {
      const said = await this.#ask(replica, "rollout-counts", asked, countsMs);
      if (this.#silent.delete(name)) this.#options.silent(name, undefined);
      return said;
    } catch (error) {
      if (!this.#silent.has(name)) this.#options.silent(name, (error as Error).message);
      this.#silent.add(name);
      throw error;
    }
  }

  /** What the others know of leases that nobody has renewed here. */
  readonly timeLeft: TimeLeft = async (ids) => {
    const most = new Map<string, number>();
    await Promise.all(
      this.#others().map(async (replica) => {
        const unknown = Object.fromEntries(ids.map((id) => [id, perhapsMs]));
        const left = (await this.#ask(replica, "leases", ids).catch(() => unknown)) as Record<string, number>;
        for (const [id, ms] of Object.entries(left)) most.set(id, Math.max(ms, most.get(id) ?? 0));
      }),
    );
    return most;
  };

  /**
   * How many connections each other server has to which clients may be sent; undefined: one of them does not say so.
   */
  async connections(): Promise<readonly number[] | undefined> {
    const spread = this.#others().filter(({ isApart }) => isApart !== true);
    const all = spread.map((replica) => this.#ask(replica, "connections", null) as Promise<number>);
    return await Promise.all(all).catch(() => undefined);
  }

  /** What each other server serves of its folder. */
  async folders(): Promise<readonly OtherFolder[]> {
    const { answers, silent = [] } = await askAll<FolderVersions>(this.peers(), "folder-versions");
    return [
      ...answers.map(({ replica, answer }) => ({ name: replica, versions: answer })),
      ...silent.map(({ replica }) => ({ name: replica, versions: undefined })),
    ];
  }

  /**
   * Begins to answer the others; while the store is away, once it is back. Rejects if it cannot listen where the
   * options say.
   */
  async join(answers: () => Promise<ReplicaAnswers>): Promise<void> {
    if (this.isSpread) await answers();
    await this.#join(answers).catch((error: unknown) => {
      if (isStoreAway(error)) this.#joining = this.#joinLater(answers);
      else if (this.isSpread) throw error;
      else this.#hide(error as Error);
    });
  }

  /** Nobody asked for it to listen: it serves all the same. */
  #hide({ message: reason }: Error): void {
    const { shared, state, problem } = this.#options;
    // Where it can only read, it leads nothing in any case.
    if (shared !== undefined && state?.isWritable && !this.#stopped.signal.aborted)
      this.#hidden = new HiddenReplica({ shared, self: this.#self(), directory: state.directory, problem });
    const message =
      `other servers of this state cannot find this one (${reason}): rollouts do not count its nodes, and it leads ` +
      "none while another server is there";
    problem({ code: "XDSKIT_STORE", severity: "warning", message });
  }

  #self() {
    return { id: randomBytes(9).toString("base64url"), name: this.name, version };
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#joining;
    await this.#replicas?.close();
    await this.#hidden?.close();
  }

  async #join(answers: () => Promise<ReplicaAnswers>): Promise<void> {
    const { shared, state, advertise, problem, refused } = this.#options;
    const at = this.#ownAddress();
    if (shared === undefined || at === undefined) return;
    const self = this.#self();
    const directory = state?.directory;
    const gone = (replica: Replica) => {
      this.#silent.delete(replica.name);
      this.#options.gone(replica);
    };
    const { signal } = this.#stopped;
    const reported = { gone, problem, refused };
    this.#replicas = await Replicas.join({ shared, at, directory, advertise, answers, self, signal, ...reported });
  }

  async #joinLater(answers: () => Promise<ReplicaAnswers>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await delay(retryMs * (1 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        return await this.#join(answers);
      } catch (error) {
        const message = `other servers of the store cannot find this one: ${(error as Error).message}`;
        if (!isStoreAway(error)) this.#options.problem({ code: "XDSKIT_STORE", severity: "error", message });
      }
    }
  }

  #others(): readonly Replica[] {
    return this.#replicas?.others ?? [];
  }

  async #ask(replica: Replica, question: string, asked: unknown, timeoutMs?: number): Promise<unknown> {
    return await this.#replicas?.ask(replica, question, asked, timeoutMs);
  }

  #ownAddress(): ReplicaAddress | undefined {
    const { worker, listen, tls, state } = this.#options;
    if (listen !== undefined) return { kind: "port", address: listen, tls };
    if (worker === undefined) return state && { kind: "state", ...state };
    const again = worker.isAgain ? `-${process.pid}` : "";
    const path =
      process.platform === "win32"
        ? `\\\\.\\pipe\\xdskit-${process.ppid}-${worker.slot}${again}`
        : join(worker.directory, `${worker.slot}${again}.sock`);
    return { kind: "socket", path };
  }
}

function isStoreAway(error: unknown): boolean {
  return error instanceof XdskitError && error.code === "XDSKIT_STORE";
}
