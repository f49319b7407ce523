import type { Reference, Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { SupplyLease } from "@xdskit/server";
import type { Following } from "./followed-references.js";
import { type NameContext, PrefetchedName } from "./prefetched-name.js";
import { SuppliedName } from "./supplied-name.js";
import { createFirstAnswers } from "./upstream/first-answers.js";
import { isCollectionReference, type WatchedCollection } from "./upstream/upstream-types.js";

/** What a group asks its origin for, and where the answers go. */
export class GroupRequests {
  readonly #context: NameContext;
  readonly #first = createFirstAnswers();

  constructor(context: NameContext) {
    this.#context = context;
  }

  /**
   * Asks for the collections that the group always has. Resolves once the first answers are there, or this many
   * milliseconds after the first of them.
   */
  async begin(collections: readonly WatchedCollection[], silenceMs: number): Promise<void> {
    for (const { type, name } of collections) this.#collection(type, name);
    await this.#first.settled(silenceMs);
  }

  /** Asks for what a resource names. */
  follow(reference: Reference): Following {
    const { types, retained } = this.#context.known;
    const type = types.byTypeUrl(reference.type)?.type;
    if (type === undefined) return { isAbsent: false, end() {} };
    const { name } = reference;
    if (isCollectionReference(reference)) return { isAbsent: false, end: this.#collection(type, name) };
    return new PrefetchedName(this.#context, type, name, this.#expect(retained.has(type, name)));
  }

  /** Asks for a name as long as a client does. The answers come as updates. */
  supply(lease: SupplyLease): Promise<Resource | undefined> {
    new SuppliedName(this.#context, lease);
    return new Promise(() => {});
  }

  /** Brings a whole type, or a folder, into the layer; returns a function that ends it. */
  #collection(type: ResourceType, name: ResourceName): () => void {
    const { known, origin, content } = this.#context;
    const { cached, awaited } = known;
    if (cached.damaged.has(type)) awaited.add(type, name);
    const answered = this.#expect(cached.whole.has(type));
    const end = origin.collection(type, name, {
      collectionChanged(collection) {
        content.collection(type, collection);
        awaited.delete(type, name);
        answered();
      },
      failed({ code }) {
        if (code !== "XDSKIT_UPSTREAM_AWAY") awaited.failed(type, name);
      },
      ended: (removed) => content.collection(type, { resources: new Map(), upserted: [], removed }),
    });
    return () => {
      answered();
      end();
      awaited.delete(type, name);
    };
  }

  /** Returns a function to call once an answer came. The cached content is served at once, whatever else is missing. */
  #expect(isRetained: boolean): () => void {
    return this.#context.known.cached.isServed && !isRetained ? () => {} : this.#first.expect();
  }
}
