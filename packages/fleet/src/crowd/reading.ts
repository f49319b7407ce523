import {
  canonicalName,
  createUnpack,
  envoyRegistry,
  type Registry,
  type ResourceName,
  type ResourceType,
  readBody,
  type Unpack,
} from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";
import {
  fingerprintOf,
  MemberHash,
  nameFieldOf,
  readDeltaResource,
  readSotwResource,
  type SentResponse,
} from "@xdskit/protocol/wire";
import type { CrowdEntry } from "./holding.js";

const hash = new MemberHash();

/** The content of a response, by name. */
export interface ReadEntries {
  readonly entries: readonly CrowdEntry[];
  /** Why one of them cannot be read. */
  readonly problem: string | undefined;
}

/**
 * Reads the resources of a type's responses: always names and versions, and bodies only if other resources are asked
 * for by the names in them.
 */
export class EntryReading {
  readonly #type: ResourceType;
  readonly #variant: SotwOrDelta;
  readonly #refers: boolean;
  readonly #registry: Registry | undefined;
  #unpack: Unpack | undefined;

  constructor(type: ResourceType, variant: SotwOrDelta, refers: boolean, registry: Registry | undefined) {
    this.#type = type;
    this.#variant = variant;
    this.#refers = refers;
    this.#registry = registry;
  }

  read({ bytes, resources }: SentResponse, known: ReadonlyMap<ResourceName, CrowdEntry>): ReadEntries {
    const entries: CrowdEntry[] = [];
    const registry = this.#registry ?? envoyRegistry();
    const nameField = nameFieldOf(this.#type, registry);
    let problem: string | undefined;
    for (const span of resources) {
      const sent = this.#variant === "sotw" ? readSotwResource(bytes, span) : readDeltaResource(bytes, span);
      const { body, version } = sent;
      const value = body?.value ?? { start: span.end, end: span.end };
      const named = sent.name ?? nameField(bytes, value);
      if (named === undefined) {
        problem ??= "a resource has no name";
        continue;
      }
      const name = canonicalName(named);
      const before = known.get(name);
      if (body === undefined) {
        // A heartbeat changes nothing; without a TTL it could not be resolved (rule 138).
        if (sent.ttl === undefined) entries.push(absent(name));
        else if (before !== undefined) entries.push(before);
        continue;
      }
      const fingerprint = hash.string(name).string(version).bytes(bytes, value.start, value.end).finish();
      const isKnown = before?.fingerprint.low === fingerprint.low && before.fingerprint.high === fingerprint.high;
      if (before !== undefined && isKnown) {
        entries.push(before);
        continue;
      }
      try {
        const references = this.#refers ? this.#references(bytes.subarray(value.start, value.end), body.typeUrl) : [];
        entries.push({ name, isThere: true, version, fingerprint, references });
      } catch {
        problem ??= `${this.#type.name} ${name} cannot be read`;
      }
    }
    return { entries, problem };
  }

  #references(value: Uint8Array, typeUrl: string): CrowdEntry["references"] {
    const registry = this.#registry ?? envoyRegistry();
    this.#unpack ??= createUnpack(registry);
    return this.#type.references(readBody(this.#type, typeUrl, value, registry), this.#unpack);
  }
}

/** A name that the server reports as missing. */
export function absent(name: ResourceName): CrowdEntry {
  return { name, isThere: false, version: "", fingerprint: fingerprintOf(name), references: [] };
}
