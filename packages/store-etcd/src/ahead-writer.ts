import { randomBytes } from "node:crypto";
import type { Revision, StoredChange, StoredResource } from "@xdskit/server";
import type { EtcdClient } from "./client/etcd-client.js";
import type { Operation } from "./client/messages.js";
import { type ContentName, putsOf } from "./contents.js";
import { eachAtOnce, inParts } from "./in-parts.js";
import type { Keys } from "./keys.js";

type Put = Extract<Operation, { kind: "put" }>;

/** A writer that says nothing for this many seconds is taken for dead: what it wrote is collected. */
const leaseSeconds = 60;
const renewMs = 20_000;
/** What a mark holds. */
export const markValue = "1";
/** What it holds once another writer was faster. */
export const lostValue = "lost";
/** The most entries in one value: below etcd's limit of a request also where names are long. */
const maxPart = { bytes: 512 * 1024, operations: 5_000 } as const;

/**
 * Writes all that a revision needs ahead of it, in requests of etcd's size. Nothing of it is seen before a head names
 * the revision. While it writes, it holds a mark, and what it wrote is not collected.
 */
export class AheadWriter {
  /** The mark that goes with the commit: where it is gone, what was written may have been collected. */
  readonly mark: string;
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #writer = randomBytes(16).toString("base64url");
  #lease = 0n;
  #renewed = 0;

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
    this.mark = keys.ahead(this.#writer);
  }

  async begin(): Promise<void> {
    await this.#renew();
    await this.#put([{ kind: "put", key: this.mark, value: markValue }]);
  }

  async contents(resources: readonly StoredResource[]): Promise<void> {
    // Part by part: the bytes of all of them need not be there at once.
    for (const some of inParts(resources, () => 1, { bytes: 1_000, operations: 1_000 }))
      await this.#put(some.flatMap((one) => putsOf(this.#keys, one)));
  }

  async revision(revision: Revision, changes: readonly StoredChange[]): Promise<void> {
    const { id } = revision;
    const parts = [...inParts(changes, sizeOfJson, maxPart)];
    await this.#put([
      { kind: "put", key: this.#keys.revision(id), value: JSON.stringify(revision) },
      ...parts.map((part, index): Put => {
        return { kind: "put", key: this.#keys.changes(id, index), value: JSON.stringify(part) };
      }),
    ]);
  }

  async checkpoint(id: string, entries: readonly ContentName[]): Promise<void> {
    const parts = entries.length === 0 ? [[]] : inParts(entries, sizeOfJson, maxPart);
    const puts = Array.from(parts, (part, index): Put => {
      return { kind: "put", key: this.#keys.checkpoint(id, index), value: JSON.stringify(part) };
    });
    // The first part comes last: without it the others do not count, so nobody takes some of them for all.
    await this.#put(puts.slice(1));
    await this.#put(puts.slice(0, 1));
  }

  /** Another writer was faster. What was written ahead is collected later, with that of others. */
  async lost(): Promise<void> {
    // Without it, it is collected as what a dead writer left: at once.
    await this.#put([{ kind: "put", key: this.mark, value: lostValue }]).catch(() => {});
  }

  /** Ends its mark for life; `mark` goes with the commit, or stays until what was written ahead is collected. */
  async end(): Promise<void> {
    // It ends by itself.
    if (this.#lease !== 0n) await this.#client.revokeLease(this.#lease).catch(() => {});
  }

  async #put(puts: readonly Put[]): Promise<void> {
    if (Date.now() - this.#renewed > renewMs) await this.#renew();
    const requests = inParts(puts, ({ key, value }) => key.length + value.length + 20);
    await eachAtOnce(requests, (operations) => this.#client.transaction({ compare: [], operations }));
  }

  async #renew(): Promise<void> {
    const before = this.#lease;
    this.#lease = await this.#client.grantLease(leaseSeconds);
    this.#renewed = Date.now();
    const operations: Put[] = [{ kind: "put", key: this.#keys.writer(this.#writer), value: "", lease: this.#lease }];
    await this.#client.transaction({ compare: [], operations });
    if (before !== 0n) await this.#client.revokeLease(before).catch(() => {});
  }
}

function sizeOfJson(value: unknown): number {
  return JSON.stringify(value).length;
}
