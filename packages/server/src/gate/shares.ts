import { dropOldest } from "../basics/maps.js";
import type { Caller } from "../identity/caller.js";
import type { ServerLimits } from "../settings/limits.js";
import { IdentityShare, type RequestLimits } from "./identity-share.js";

/** A limit that the calls of one identity share. */
export type SharedLimit = "streams_per_identity" | "polls_per_identity" | "requests_per_second_per_identity";

type ShareKind = "stream" | "poll";
type Of = Pick<Caller, "identity">;

/** So many identities without a call keep the count of their requests: else one could begin anew with each call. */
const maxIdle = 10_000;

/** The limits of each identity. */
type ShareLimits = RequestLimits & Pick<ServerLimits, "streamsPerIdentity" | "pollsPerIdentity">;

/**
 * Counts what each identity uses, so that none takes what others need. An identity is what a rule proved, and not the
 * node that a client says it is. Callers without one have the limits of connections, addresses and nodes.
 */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #reached: (limit: SharedLimit) => void;
  readonly #open = new Map<string, IdentityShare>();
  readonly #idle = new Map<string, IdentityShare>();
  readonly #waiting = { bytes: 0 };

  /** `limits` are read each time; they can change. `reached` is called each time that an identity has its share. */
  constructor(limits: ShareLimits, reached: (limit: SharedLimit) => void) {
    this.#limits = limits;
    this.#reached = reached;
  }

  /** Why the caller may open no more, if so. */
  full({ identity }: Of, kind: ShareKind): string | undefined {
    const open = (identity === undefined ? undefined : this.#open.get(identity)?.open[kind]) ?? 0;
    const most = kind === "stream" ? this.#limits.streamsPerIdentity : this.#limits.pollsPerIdentity;
    if (identity === undefined || open < most) return undefined;
    const limit = `${kind}s_per_identity` as const;
    this.#reached(limit);
    return noMore(`has ${open} ${kind}s open`, limit);
  }

  /** A stream or poll begins; call `close` once it is gone. Undefined: no rule tells its caller apart. */
  open({ identity }: Of, kind: ShareKind): { readonly share: IdentityShare; readonly close: () => void } | undefined {
    if (identity === undefined) return undefined;
    const share = this.#of(identity);
    share.open[kind] += 1;
    this.#idle.delete(identity);
    this.#open.set(identity, share);
    const close = () => {
      share.open[kind] -= 1;
      if (share.open.stream + share.open.poll > 0) return;
      this.#open.delete(identity);
      this.#keep(identity, share);
    };
    return { share, close };
  }

  /** A poll has come; returns why it is too much, if so: its client sends it again later. */
  polled({ identity }: Of): string | undefined {
    return identity === undefined || this.#of(identity).takesOne() ? undefined : this.tooFast();
  }

  /** Counts that a request waits. */
  readonly late = (): void => this.#reached("requests_per_second_per_identity");

  /** Why requests are too much. */
  readonly tooFast = (): string => {
    this.late();
    const { requestsPerSecondPerIdentity: perSecond } = this.#limits;
    return noMore(`sent more than ${perSecond} requests per second`, "requests_per_second_per_identity");
  };

  #of(identity: string): IdentityShare {
    const known = this.#open.get(identity) ?? this.#idle.get(identity);
    if (known !== undefined) return known;
    const share = new IdentityShare(this.#limits, this.#waiting);
    this.#keep(identity, share);
    return share;
  }

  #keep(identity: string, share: IdentityShare): void {
    this.#idle.set(identity, share);
    dropOldest(this.#idle, maxIdle);
  }
}

function noMore(what: string, limit: SharedLimit): string {
  return `this caller ${what}, and no identity may have more (limits.${limit})`;
}
