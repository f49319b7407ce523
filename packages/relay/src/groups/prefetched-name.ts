import { canonicalName, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Following } from "./followed-references.js";
import type { GroupKnown } from "./group-known.js";
import type { GroupLayer } from "./group-layer.js";
import type { PendingChanges } from "./pending/pending-changes.js";
import { NameWatch, type OriginWatches } from "./upstream/origin-watches.js";

/** The parts that all names of one group share. */
export interface NameContext {
  readonly known: GroupKnown;
  readonly origin: OriginWatches;
  readonly content: GroupLayer;
  readonly pending: PendingChanges;
}

/** A name that is asked for because a resource has it, before a client does. Its resource goes into the layer. */
export class PrefetchedName extends NameWatch implements Following {
  readonly #context: NameContext;
  readonly #answered: () => void;
  /** The name of its resource in the layer: the one that is asked for may be an alias. */
  #served: ResourceName | undefined;
  #isAbsent = false;

  /** `answered` is called whenever the origin says something about the name. */
  constructor(context: NameContext, type: ResourceType, name: ResourceName, answered: () => void) {
    super(type, name);
    this.#context = context;
    this.#answered = answered;
    context.origin.name(this);
  }

  get isAbsent(): boolean {
    return this.#isAbsent;
  }

  end(): void {
    this.cancel();
    if (this.#context.known.phase !== "closed") this.#put(undefined);
  }

  protected found(received: ReceivedResource): void {
    this.#isAbsent = false;
    this.#put(received);
  }

  protected absent(): void {
    this.#isAbsent = true;
    this.#put(undefined);
  }

  #put(received: ReceivedResource | undefined): void {
    const { content, pending } = this.#context;
    const before = this.#served;
    this.#served = received && canonicalName(received.name);
    if (before !== undefined && before !== this.#served) content.single(this.type, before, undefined);
    if (this.#served !== undefined) content.single(this.type, this.#served, received);
    else pending.lookLater();
    this.#answered();
  }
}
