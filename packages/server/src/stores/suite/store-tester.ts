import assert from "node:assert/strict";
import type { CommitInfo, Revision, Store, StoredResource, StoredVersion } from "../../contracts/stores/store.js";
import type { StoreUnderTest } from "./store-under-test.js";

export const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

export function resource(key: string, version: string): StoredResource {
  return { type, key, version, bytes: Buffer.from(`${key} at ${version}`) };
}

export function info(message: string, time = 1_000): CommitInfo {
  return { author: "a test", cause: { kind: "api", caller: "a test" }, message, time };
}

/** A store, with helpers for tests. */
export class StoreTester {
  readonly #under: StoreUnderTest;
  #open: Store | undefined;

  constructor(under: StoreUnderTest) {
    this.#under = under;
  }

  /** Runs a test with an empty store. */
  readonly withStore = async (test: (store: Store) => Promise<void>): Promise<void> => {
    this.#open = await this.#under.create();
    try {
      await test(this.#open);
    } finally {
      await this.#open.close();
      await this.#under.dispose?.();
    }
  };

  /** Closes the store of the test, and opens what is left of it. */
  async reopened(reopen: () => Promise<Store>): Promise<Store> {
    await this.#open?.close();
    this.#open = await reopen();
    return this.#open;
  }
}

/** Commits a patch on the head of a layer, which must succeed. */
export async function patch(
  store: Store,
  layer: string,
  upsert: readonly StoredResource[],
  remove: readonly string[] = [],
  said = info("a change"),
): Promise<Revision> {
  const parent = (await store.head(layer))?.id;
  const keys = remove.map((key) => ({ type, key }));
  const result = await store.commit([{ layer, parent, kind: "patch", upsert, remove: keys }], said);
  assert.equal(result.kind, "committed");
  const [head] = result.heads;
  return head ?? assert.fail("a committed layer has a head");
}

export async function contentsAt(store: Store, { id }: Revision): Promise<Record<string, string>> {
  const found = await store.read(id);
  for (const { key, version, bytes } of found) assert.equal(Buffer.from(bytes).toString(), `${key} at ${version}`);
  const named = (all: readonly StoredVersion[]) =>
    all.map(({ type, key, version }) => [type, key, version].join()).sort();
  assert.deepEqual(named(await store.versions(id)), named(found));
  return Object.fromEntries(found.map(({ key, version }) => [key, version] as const).sort());
}
