import type { Finding } from "@xdskit/api";
import type { ServerTls, SharedKeys } from "@xdskit/server";
import { Membership, type Replica } from "./membership.js";
import type { AnswerOf, Answers, AskedOf } from "./questions.js";
import { type AskOptions, ask } from "./replica-client.js";
import { type ReplicaPlace, startReplicaListener } from "./replica-listener.js";
import { replicaToken } from "./replica-token.js";

/** What one replica answered, or why it did not. */
export type Answered<T> =
  | { readonly replica: Replica; readonly answer: T }
  | { readonly replica: Replica; readonly silent: string };

/** What a server needs to be one of several. */
export interface ReplicasOptions<A extends Answers> {
  readonly shared: SharedKeys;
  readonly self: Pick<Replica, "id" | "name" | "version">;
  readonly place: ReplicaPlace;
  /** Where the others reach it, if that is not where it listens: `HOST:PORT`. */
  readonly advertise?: string | undefined;
  readonly answers: A;
  readonly gone: (replica: Replica) => void;
  readonly problem: (finding: Finding | undefined) => void;
}

/** A replica that says nothing for so many milliseconds is left out of an answer, which says so. */
const timeoutMs = 3_000;

/** The other servers of a store: who they are, and what they say. */
export class Replicas<A extends Answers> {
  readonly self: Replica;
  readonly #membership: Membership;
  readonly #ask: AskOptions;
  readonly #stop: () => Promise<void>;

  private constructor(self: Replica, membership: Membership, asking: AskOptions, stop: () => Promise<void>) {
    this.self = self;
    this.#membership = membership;
    this.#ask = asking;
    this.#stop = stop;
  }

  /** Listens, and is known to the others soon. Rejects if it cannot listen, or the store cannot be read. */
  static async join<A extends Answers>(options: ReplicasOptions<A>): Promise<Replicas<A>> {
    const { shared, place, advertise, answers, gone, problem } = options;
    const token = await replicaToken(shared);
    const listener = await startReplicaListener(place, token, answers);
    const address = advertise === undefined ? listener.address : withAuthority(listener.address, advertise);
    const self = { ...options.self, address, since: Date.now() };
    const membership = new Membership({ shared, self, gone, problem });
    const tls: ServerTls | undefined = place.kind === "port" ? place.tls : undefined;
    return new Replicas<A>(self, membership, { token, tls, timeoutMs }, async () => {
      await membership.close();
      await listener.close();
    });
  }

  get others(): readonly Replica[] {
    return this.#membership.others;
  }

  /** Asks all others at once. Does not reject: who does not answer in time is silent, and says why. */
  askAll<Q extends keyof A & string>(question: Q, asked: AskedOf<A, Q>): Promise<readonly Answered<AnswerOf<A, Q>>[]> {
    return Promise.all(this.others.map((replica) => this.askOne(replica, question, asked)));
  }

  /** Asks one. Does not reject. */
  async askOne<Q extends keyof A & string>(
    replica: Replica,
    question: Q,
    asked: AskedOf<A, Q>,
  ): Promise<Answered<AnswerOf<A, Q>>> {
    try {
      return { replica, answer: (await ask(replica, question, asked, this.#ask)) as AnswerOf<A, Q> };
    } catch (error) {
      return { replica, silent: (error as Error).message };
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
