import { setTimeout as delay } from "node:timers/promises";
import type { CallerRefused } from "@xdskit/server";
import type { ReplicaAnswers } from "./questions.js";
import { type AskOptions, ask, TokenRefused } from "./replica-client.js";
import { ReplicaList, type ReplicaListOptions } from "./replica-list.js";
import {
  type ReplicaAddress,
  type ReplicaListener,
  type ReplicaPort,
  startReplicaListener,
} from "./replica-listener.js";
import type { ReplicaCertificates } from "./replica-tls.js";
import { ReplicaToken } from "./replica-token.js";
import type { Replica } from "./replicas-there.js";
import { listenForState, type StateSocket } from "./state-socket.js";

export interface ReplicasOptions extends Pick<ReplicaListOptions, "shared" | "gone" | "problem"> {
  readonly self: Pick<Replica, "id" | "name" | "version">;
  readonly at: ReplicaAddress;
  /** The folder of the state, if it is one of this machine. */
  readonly directory?: string | undefined;
  /** Where the others reach it, if that is not where it listens: `HOST:PORT`. */
  readonly advertise?: string | undefined;
  /** Called before the others are told of this server. */
  readonly answers: () => Promise<ReplicaAnswers>;
  /** Told who asked this server and is none of the store's. */
  readonly refused: (refused: CallerRefused) => void;
  /** Ends the wait of `join`, and closes what it has opened. */
  readonly signal?: AbortSignal | undefined;
}

interface AskHow extends Pick<AskOptions, "tls" | "directory"> {
  readonly token: ReplicaToken;
}

/** How long the start of a server waits for the others, in milliseconds. */
const maxKnownMs = 8_000;

/** A replica that is silent for this many milliseconds is left out of an answer, which says so. */
const usualTimeoutMs = 3_000;

/** The other servers of a store, and their answers. */
export class Replicas {
  readonly self: Replica;
  readonly #list: ReplicaList;
  readonly #ask: AskHow;
  readonly #stop: () => Promise<void>;

  private constructor(self: Replica, list: ReplicaList, asking: AskHow, stop: () => Promise<void>) {
    this.self = self;
    this.#list = list;
    this.#ask = asking;
    this.#stop = stop;
  }

  /**
   * Listens, and makes itself known to the others. In a state folder it does so only while there are others, and waits
   * until those know of it that are there already, at most 8 seconds. Rejects if it cannot listen, or the store cannot
   * be read.
   */
  static async join(options: ReplicasOptions): Promise<Replicas> {
    const { shared, at, directory, advertise, gone, problem, refused, signal } = options;
    let known: Promise<ReplicaAnswers> | undefined;
    const answers = () => {
      known ??= options.answers().catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    };
    const token = new ReplicaToken(shared, problem);
    // Nothing is read or written for a server that is alone.
    if (at.kind !== "state") await token.restore();
    const listen = (at: ReplicaPort) => startReplicaListener(at, { token, answers, refused });
    const { listener, address: own, neighbors } = await listening(at, options.self.id, listen);
    const address = advertise === undefined ? own : withAuthority(own, advertise);
    const self: Replica = { ...options.self, address, since: Date.now(), isApart: at.kind === "state" || undefined };
    const joins = at.kind === "state" && (neighbors !== undefined || !at.isWritable) ? "with-others" : "always";
    const beforeJoin = async () => {
      await Promise.all([token.restore(), answers()]);
    };
    const list = new ReplicaList({ shared, self, joins, neighbors, beforeJoin, gone, problem });
    const tls: ReplicaCertificates | undefined = at.kind === "port" ? at.tls : undefined;
    const replicas = new Replicas(self, list, { token, tls, directory }, async () => {
      await list.close();
      await listener.close();
    });
    // No node may come here before the others count it.
    if (joins === "with-others") await isKnownOrLate(list, signal);
    if (signal?.aborted) await replicas.close();
    return replicas;
  }

  /** Whether the others are known. False soon after the start. */
  get isKnown(): boolean {
    return this.#list.isKnown;
  }

  get others(): readonly Replica[] {
    return this.#list.others;
  }

  /** Asks one of the others. Rejects, with a reason for people, if it does not answer in time. */
  async ask(replica: Replica, question: string, asked: unknown, timeoutMs = usualTimeoutMs): Promise<unknown> {
    const { token, tls, directory } = this.#ask;
    try {
      return await ask(replica, question, asked, { token: token.value, tls, directory, timeoutMs });
    } catch (error) {
      // One of the two has a token that the store has lost. The other one finds out when it asks.
      if (error instanceof TokenRefused) void token.restore().catch(() => {});
      throw error;
    }
  }

  /** The others know at once that it is gone. */
  close(): Promise<void> {
    return this.#stop();
  }
}

async function listening(
  at: ReplicaAddress,
  id: string,
  listen: (at: ReplicaPort) => Promise<ReplicaListener>,
): Promise<StateSocket> {
  if (at.kind === "state") return await listenForState(at.directory, id, (path) => listen({ kind: "socket", path }));
  const listener = await listen(at);
  return { listener, address: listener.address, neighbors: undefined };
}

function withAuthority(address: string, authority: string): string {
  return `${new URL(address).protocol}//${authority}`;
}

async function isKnownOrLate({ known }: ReplicaList, signal: AbortSignal | undefined): Promise<void> {
  const done = new AbortController();
  const signals = [done.signal, ...(signal === undefined ? [] : [signal])];
  const late = delay(maxKnownMs, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  await Promise.race([known, late]);
  done.abort();
}
