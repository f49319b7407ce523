import {
  type Finding,
  listNames,
  type Registry,
  type Resource,
  type ResourceName,
  type ResourceTypes,
  type TypeUrl,
  type Version,
} from "@xdskit/api";
import { idOf } from "../../../basics/id-of.js";
import type { Store } from "../../../contracts/stores/store.js";
import { maxConflicts } from "../../../stores/basics/paces.js";
import { decodeStored } from "../../../stores/history/stored-content.js";
import { isHolding, preparedFor, type RecordedChange, type RolloutRecord } from "../records/record.js";
import type { RecordStore } from "../records/record-store.js";
import type { Prepared, PreparedResource } from "./group-side.js";

interface PreparedChangesOptions {
  readonly store: Pick<Store, "content">;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly records: Pick<RecordStore, "all" | "list" | "read">;
  readonly problem: (finding: Finding) => void;
}

/** How far the reading for one record is. `of`: see `preparedFor`. `failed`: the store is away, or the list is gone. */
type Preparation =
  | { readonly kind: "reading" | "failed"; readonly of: string }
  | { readonly kind: "read"; readonly of: string; readonly prepared: Prepared };

/** The most contents to read at once. */
const readAtOnce = 64;

/** Reads the lists of records' changes, and the contents that they are about. */
export class PreparedChanges {
  readonly #options: PreparedChangesOptions;
  readonly #byGroup = new Map<string, Preparation>();

  constructor(options: PreparedChangesOptions) {
    this.#options = options;
  }

  /** Undefined: it is not read yet. */
  of(record: RolloutRecord): Preparation | undefined {
    const known = this.#byGroup.get(record.group);
    return known?.of === preparedFor(record) ? known : undefined;
  }

  forget(group: string): void {
    this.#byGroup.delete(group);
  }

  /** Reads for one record. Rejects if the store cannot be read. */
  async read(record: RolloutRecord): Promise<void> {
    const of = preparedFor(record);
    const reading: Preparation = { kind: "reading", of };
    this.#byGroup.set(record.group, reading);
    let now: Preparation = { kind: "failed", of };
    try {
      const prepared = await this.#contents(record);
      if (prepared !== undefined) now = { kind: "read", of, prepared };
    } finally {
      if (this.#byGroup.get(record.group) === reading) this.#byGroup.set(record.group, now);
    }
  }

  /** Reads for all records that hold something back, again while others replace them. Rejects as `read` does. */
  async readAll(isOver: () => boolean): Promise<void> {
    const { records } = this.#options;
    const isMissing = (record: RolloutRecord) => isHolding(record) && this.of(record)?.kind !== "read";
    for (let tries = 0; tries < maxConflicts && !isOver(); tries += 1) {
      if (!records.all.some(isMissing)) return;
      // If a list is gone, its record has been replaced since.
      if (tries > 0) await records.read();
      const reads = records.all.filter(isMissing).map((record) => this.read(record));
      // One that cannot be read must not leave another one behind that is still being read.
      for (const read of await Promise.allSettled(reads)) if (read.status === "rejected") throw read.reason;
    }
  }

  /** A content that the store has; undefined: it has it no more. */
  async content(type: TypeUrl, key: ResourceName, version: Version): Promise<Resource | undefined> {
    const bytes = await this.#options.store.content(type, key, version);
    return bytes && decodeStored({ type, key, version, bytes }, this.#options);
  }

  async #contents(record: RolloutRecord): Promise<Prepared | undefined> {
    const list = await this.#options.records.list(record);
    if (list === undefined) return undefined;
    const isCompleted = record.course.phase === "completed";
    const prepared = new Map<string, PreparedResource>();
    const missing: ResourceName[] = [];
    const read = async ({ type: typeUrl, key, from, wanted }: RecordedChange) => {
      const type = this.#options.types.byTypeUrl(typeUrl)?.type;
      const version = isCompleted ? wanted : from;
      const resource = version === undefined ? undefined : await this.content(typeUrl, key, version);
      const isGone = version !== undefined && resource === undefined;
      if (isGone) missing.push(key);
      else if (type !== undefined) prepared.set(idOf({ type, key }), { type, key, from, wanted, resource });
    };
    for (let at = 0; at < list.length; at += readAtOnce) await Promise.all(list.slice(at, at + readAtOnce).map(read));
    if (missing.length > 0) this.#options.problem(missingContents(missing));
    return prepared;
  }
}

function missingContents(keys: readonly ResourceName[]): Finding {
  const message = `a rollout keeps ${listNames(keys)} as before, but the store does not have that any more: nodes get the newest`;
  return { code: "XDSKIT_STORE", severity: "warning", message };
}
