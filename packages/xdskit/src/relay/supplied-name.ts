import { canonicalName, type Resource } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { SupplyRequest } from "@xdskit/server";
import type { Followed } from "./followed.js";
import { type GroupLayerOptions, servedAs } from "./group-layer.js";
import type { HeldChanges } from "./held-changes.js";
import type { NameWatcher, OriginWatches } from "./origin-watches.js";

/** What all names of one group share. */
export interface SuppliedNameContext {
  readonly origin: Pick<OriginWatches, "name">;
  readonly followed: Followed;
  readonly held: HeldChanges;
  report: GroupLayerOptions["report"];
  isClosed(): boolean;
}

/**
 * A name that clients ask for, and that is asked of the origin until they do no more. Clients decide how many there are: it keeps what it needs of the request, and is
 * a class, whose functions all share.
 */
export class SuppliedName implements NameWatcher {
  readonly #context: SuppliedNameContext;
  readonly #type: SupplyRequest["type"];
  readonly #name: SupplyRequest["name"];
  readonly #update: SupplyRequest["update"];
  #isOver = false;
  /** It was there, and what it names is followed. */
  #isFollowed = false;

  constructor(context: SuppliedNameContext, { type, name, update, onEnd }: SupplyRequest) {
    this.#context = context;
    this.#type = type;
    this.#name = name;
    this.#update = update;
    const watch = context.origin.name(type, name, this);
    onEnd(() => {
      this.#isOver = true;
      watch.cancel();
      if (!context.isClosed()) this.#follow(undefined);
    });
  }

  found(received: ReceivedResource): void {
    const resource = servedAs(received, this.#context.report);
    if (resource !== undefined) this.#take(resource);
  }

  absent(): void {
    this.#take(undefined);
  }

  #take(resource: Resource | undefined): void {
    const change = { type: this.#type, name: canonicalName(this.#name), resource };
    this.#context.held.take([change], "if named by what waits", () => this.#say(resource));
  }

  #say(resource: Resource | undefined): void {
    if (this.#isOver) return;
    this.#follow(resource);
    this.#update(resource);
  }

  /** What it names is followed for as long as it is there. */
  #follow(resource: Resource | undefined): void {
    if (resource === undefined && !this.#isFollowed) return;
    this.#isFollowed = resource !== undefined;
    this.#context.followed.set(this.#type, `supplied: ${this.#name}`, resource);
  }
}
