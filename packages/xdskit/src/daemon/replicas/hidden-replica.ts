import type { Finding } from "@xdskit/api";
import type { SharedKeys } from "@xdskit/server";
import { membersPrefix, ReplicaList } from "./replica-list.js";
import type { Replica } from "./replicas-there.js";
import { mayBeListening } from "./state-socket.js";

export interface HiddenReplicaOptions {
  readonly shared: SharedKeys;
  readonly self: Pick<Replica, "id" | "name" | "version">;
  /** The folder of the state. */
  readonly directory: string;
  readonly problem: (finding: Finding | undefined) => void;
}

const hiddenPrefix = "replicas/hidden/";

/**
 * A server of a state folder that the others cannot ask, since it cannot listen. Its name is in the store apart from
 * theirs, so that they do not wait for it: only others of its kind look there.
 */
export class HiddenReplica {
  readonly #options: HiddenReplicaOptions;
  readonly #list: ReplicaList;

  constructor(options: HiddenReplicaOptions) {
    const { shared, self, problem } = options;
    this.#options = options;
    this.#list = new ReplicaList({
      shared,
      self: { ...self, address: "", since: Date.now() },
      prefix: hiddenPrefix,
      joins: "always",
      problem,
      beforeJoin: async () => {},
      gone() {},
    });
  }

  /** Whether it is certain that no other server is there. */
  async isAlone(): Promise<boolean> {
    const { shared, self, directory } = this.#options;
    const [hidden, members] = await Promise.all([shared.list(hiddenPrefix), shared.list(membersPrefix)]);
    // If two look at the same time, at least one sees the other, since each is in the store before it looks.
    const isOnlyHidden = hidden.length === 1 && hidden[0]?.key === hiddenPrefix + self.id;
    // A server that knows of no other one is not in the store, but listens.
    return isOnlyHidden && members.length === 0 && !(await mayBeListening(directory));
  }

  close(): Promise<void> {
    return this.#list.close();
  }
}
