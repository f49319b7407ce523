import type { Finding } from "@xdskit/api";
import type { ServerTls, SharedKeys } from "@xdskit/server";
import { Membership, type Replica } from "./membership.js";
import type { ReplicaAnswers } from "./questions.js";
import { type AskOptions, ask, TokenRefused } from "./replica-client.js";
import { type ReplicaPlace, startReplicaListener } from "./replica-listener.js";
import { ReplicaToken } from "./replica-token.js";

/** The options of a server that is one of several. */
export interface ReplicasOptions {
  readonly shared: SharedKeys;
  readonly self: Pick<Replica, "id" | "name" | "version">;
  readonly place: ReplicaPlace;
  /** Where the others reach it, if that is not where it listens: `HOST:PORT`. */
  readonly advertise?: string | undefined;
  readonly answers: ReplicaAnswers;
  readonly gone: (replica: Replica) => void;
  readonly problem: (finding: Finding | undefined) => void;
}

interface AskHow extends Pick<AskOptions, "tls"> {
  readonly token: ReplicaToken;
}

/** A replica that is silent for so many milliseconds is left out of an answer, which says so. */
const usualTimeoutMs = 3_000;

/** The other servers of a store, and their answers. */
export class Replicas {
  readonly self: Replica;
  readonly #membership: Membership;
  readonly #ask: AskHow;
  readonly #stop: () => Promise<void>;

  private constructor(self: Replica, membership: Membership, asking: AskHow, stop: () => Promise<void>) {
    this.self = self;
    this.#membership = membership;
    this.#ask = asking;
    this.#stop = stop;
  }

  /** Listens, and makes itself known to the others. Rejects if it cannot listen, or the store cannot be read. */
  static async join(options: ReplicasOptions): Promise<Replicas> {
    const { shared, place, advertise, answers, gone, problem } = options;
    const token = await ReplicaToken.open(shared, problem);
    const listener = await startReplicaListener(place, token, answers);
    const address = advertise === undefined ? listener.address : withAuthority(listener.address, advertise);
    const self = { ...options.self, address, since: Date.now() };
    const membership = new Membership({ shared, self, beforeJoin: () => token.restore(), gone, problem });
    const tls: ServerTls | undefined = place.kind === "port" ? place.tls : undefined;
    return new Replicas(self, membership, { token, tls }, async () => {
      await membership.close();
      await listener.close();
    });
  }

  /** Whether the others are known. False soon after the start. */
  get isKnown(): boolean {
    return this.#membership.isKnown;
  }

  get others(): readonly Replica[] {
    return this.#membership.others;
  }

  /** Asks one of the others. Rejects, with a reason for people, if it does not answer in time. */
  async ask(replica: Replica, question: string, asked: unknown, timeoutMs = usualTimeoutMs): Promise<unknown> {
    const { token, tls } = this.#ask;
    try {
      return await ask(replica, question, asked, { token: token.value, tls, timeoutMs });
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

function withAuthority(address: string, authority: string): string {
  return `${new URL(address).protocol}//${authority}`;
}
