import { isApiListener, type Resource, type ResourceName, type TypeUrl } from "@xdskit/api";
import {
  changeBetween,
  emptyResourceSet,
  type ResourceSet,
  ResourceSets,
  type Snapshot,
  snapshotOf,
} from "@xdskit/protocol";

const listenerTypeUrl: TypeUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";

/**
 * The snapshots of one stack without listeners for gRPC's clients. Envoy cannot use one that a server sends, and logs a
 * warning for each; a wildcard holds what is of use to the node. A new set of listeners costs what changed since the
 * last one.
 */
export class WithoutApiListeners {
  readonly #snapshots = new WeakMap<Snapshot, Snapshot>();
  readonly #sets = new WeakMap<ResourceSet, ResourceSet>();
  #last: { readonly all: ResourceSet; readonly left: ResourceSet } | undefined;

  /** Without any such listener it is the same object. */
  of(snapshot: Snapshot): Snapshot {
    const all = snapshot.sets.get(listenerTypeUrl);
    const left = all && this.#left(all);
    if (left === undefined || left === all) return snapshot;
    const known = this.#snapshots.get(snapshot) ?? snapshotOf(new Map(snapshot.sets).set(listenerTypeUrl, left));
    this.#snapshots.set(snapshot, known);
    return known;
  }

  #left(all: ResourceSet): ResourceSet {
    const known = this.#sets.get(all);
    if (known !== undefined) return known;
    const left = this.#derived(all);
    this.#last = { all, left };
    this.#sets.set(all, left);
    return left;
  }

  #derived(all: ResourceSet): ResourceSet {
    const before = this.#last;
    // A first set is not compared, so that no change from the empty set is remembered.
    const upserted = before === undefined ? [...all] : changeBetween(before.all, all).upserted;
    const removed = before === undefined ? [] : changeBetween(before.all, all).removed;
    const isPlain = before === undefined || before.left === before.all;
    if (isPlain && !upserted.some(isApiListener)) return all;
    const changes = new Map<ResourceName, Resource | undefined>(removed.map(({ key }) => [key, undefined]));
    for (const one of upserted) changes.set(one.key, isApiListener(one) ? undefined : one);
    const left = ResourceSets.derive(before?.left ?? emptyResourceSet(all.type), changes);
    return left.size === all.size ? all : left;
  }
}
