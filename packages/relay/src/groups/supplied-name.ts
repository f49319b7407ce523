import { canonicalName, type Resource } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { SupplyLease } from "@xdskit/server";
import { servedAs } from "./group-layer.js";
import type { NameContext } from "./prefetched-name.js";
import { NameWatch } from "./upstream/origin-watches.js";

/** They are served beside the layer that may be rolled back. */
const suppliedKind = { removals: "if named by what waits", endsRollback: false } as const;

/**
 * A name that clients ask for; the origin is asked as long as they do. Clients decide how many names there are, so it
 * keeps little and is a class, whose functions all share.
 */
export class SuppliedName extends NameWatch {
  readonly #context: NameContext;
  readonly #lease: SupplyLease;
  /** Its resource came, and the names in it are followed. */
  #isFollowed = false;

  constructor(context: NameContext, lease: SupplyLease) {
    super(lease.type, lease.name);
    this.#context = context;
    this.#lease = lease;
    context.origin.name(this);
    lease.onEnd(this);
  }

  /** No client asks for it any more. */
  ended(): void {
    this.cancel();
    const { findings, phase } = this.#context.known;
    findings.served(this.type, this.name);
    if (phase !== "closed") this.#follow(undefined);
  }

  protected found(received: ReceivedResource): void {
    const resource = servedAs(received, this.#context.known.report);
    if (resource !== undefined) this.#take(resource);
  }

  protected absent(): void {
    this.#take(undefined);
  }

  #take(resource: Resource | undefined): void {
    const change = { type: this.type, name: canonicalName(this.name), resource };
    this.#context.pending.take([change], suppliedKind, () => this.#say(resource));
  }

  #say(resource: Resource | undefined): void {
    if (this.isOver) return;
    this.#context.known.findings.served(this.type, this.name);
    this.#follow(resource);
    this.#lease.update(resource);
  }

  /** The names in it are followed as long as it exists. */
  #follow(resource: Resource | undefined): void {
    if (resource === undefined && !this.#isFollowed) return;
    this.#isFollowed = resource !== undefined;
    this.#context.known.followed.set(this.type, `supplied: ${this.name}`, resource);
  }
}
