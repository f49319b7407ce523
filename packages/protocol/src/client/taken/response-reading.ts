import {
  canonicalName,
  envoyRegistry,
  type Registry,
  type ResourceName,
  type ResourceType,
  readBody,
  type Version,
} from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { type NameField, nameFieldOf } from "../../wire/responses/name-field.js";
import {
  readDeltaResource,
  readSotwResource,
  type SentResource,
  type SentResponse,
} from "../../wire/responses/read-response.js";
import type { WantedNames } from "../asked/wanted-names.js";
import type { BadResource } from "../contract/rejection.js";
import { badResource, findingsOf } from "../contract/rejection.js";
import { answering, nameByPlace } from "./any-content.js";
import type { NamedResource } from "./named-resource.js";

/** Something that is wrong with a response. */
export type BadPart = BadResource & {
  /** The place in the response. */
  readonly index: number | undefined;
  /** The resource's own; empty if it has none. */
  readonly version: Version;
};

/** A response by names. */
export interface NamedResponse {
  readonly resources: readonly NamedResource[];
  readonly bad: readonly BadPart[];
  /** All names that it mentions, also in wrong parts. */
  readonly mentioned: ReadonlySet<ResourceName>;
}

/** A sign of life alone (rules 130, 131). */
export function isHeartbeat({ sent: { body, ttl } }: NamedResource): boolean {
  return body === undefined && ttl !== undefined;
}

/**
 * Tells whether a missing name in a response proves nothing: it has heartbeats (rule 130) at the current version, or
 * parts that cannot be read.
 */
export function isPartial(sent: SentResponse, { resources, bad }: NamedResponse, version: Version): boolean {
  if (bad.some(({ name }) => name === undefined)) return true;
  // Rule 163: one of two resources with the same name may be the one that seems to be missing.
  if (bad.some(({ findings }) => findings.some(({ code }) => code === "XDSKIT_DUPLICATE_RESOURCE"))) return true;
  return sent.version === version && resources.some(isHeartbeat);
}

/**
 * Finds the names of a response's resources, and its faults, before anything is decoded. One for each type of a client.
 */
export class ResponseReading {
  readonly #type: ResourceType;
  readonly #sotwOrDelta: SotwOrDelta;
  readonly #registry: Registry | undefined;
  #nameField: NameField | undefined;

  constructor(type: ResourceType, sotwOrDelta: SotwOrDelta, registry: Registry | undefined) {
    this.#type = type;
    this.#sotwOrDelta = sotwOrDelta;
    this.#registry = registry;
  }

  /**
   * `wanted`: the requested names. A resource without a name gets them if a type's resources may be anything.
   */
  read(response: SentResponse, wanted: WantedNames): NamedResponse {
    const { bytes } = response;
    const byKey = new Map<ResourceName, NamedResource>();
    const twice = new Set<ResourceName>();
    const bad: BadPart[] = [];
    const mentioned = new Set<ResourceName>();
    for (const [index, span] of response.resources.entries()) {
      try {
        const sent = this.#sotwOrDelta === "sotw" ? readSotwResource(bytes, span) : readDeltaResource(bytes, span);
        const wrong = this.#wrongType(response, sent);
        if (sent.name !== undefined) mentioned.add(canonicalName(sent.name));
        if (wrong !== undefined) {
          bad.push({
            ...badResource(this.#type, sent.name, "XDSKIT_TYPE_MISMATCH", wrong),
            index,
            version: sent.version,
          });
          continue;
        }
        const name = sent.name ?? this.#nameIn(bytes, sent) ?? this.#nameByPlace(index, response, wanted);
        if (name === undefined) {
          bad.push({
            ...badResource(this.#type, undefined, "XDSKIT_NAME_MISSING", "the resource has no name"),
            index,
            version: sent.version,
          });
          continue;
        }
        const key = canonicalName(name);
        mentioned.add(key);
        if (byKey.has(key)) twice.add(key);
        else byKey.set(key, { index, key, name, sent });
      } catch (error) {
        bad.push({ ...findingsOf(this.#type, undefined, error), index, version: "" });
      }
    }
    for (const removed of response.removed) {
      const key = canonicalName(removed);
      if (byKey.has(key)) twice.add(key);
    }
    // Rule 163: nobody can tell which one is meant, so neither is taken.
    for (const key of twice) {
      const first = byKey.get(key);
      const { index, name } = first ?? { index: undefined, name: key };
      const version = first?.sent.version ?? "";
      byKey.delete(key);
      bad.push({
        ...badResource(this.#type, name, "XDSKIT_DUPLICATE_RESOURCE", "the response has it twice"),
        index,
        version,
      });
    }
    const resources = [...byKey.values()];
    if (!this.#type.anyContent) return { resources, bad, mentioned };
    const { resources: answers, problem } = answering(resources, wanted);
    if (problem !== undefined)
      bad.push({
        ...badResource(this.#type, undefined, "XDSKIT_UPDATE_REJECTED", problem),
        index: undefined,
        version: "",
      });
    return { resources: answers, bad, mentioned };
  }

  #nameByPlace(index: number, response: SentResponse, wanted: WantedNames): ResourceName | undefined {
    return this.#type.anyContent ? nameByPlace(index, response, wanted) : undefined;
  }

  /** Rule 164. A response of a per-type stream may leave its type to the method. */
  #wrongType(response: SentResponse, { body }: SentResource): string | undefined {
    if (body === undefined || this.#type.anyContent) return undefined;
    const { typeUrl, v2TypeUrl } = this.#type;
    const isRight =
      response.typeUrl === ""
        ? body.typeUrl === typeUrl || body.typeUrl === v2TypeUrl
        : body.typeUrl === response.typeUrl;
    if (isRight) return undefined;
    return `its type is ${shown(body.typeUrl)}, and the response's is ${shown(response.typeUrl || typeUrl)}`;
  }

  #nameIn(bytes: Uint8Array, { body }: SentResource): ResourceName | undefined {
    if (body === undefined) return undefined;
    this.#nameField ??= nameFieldOf(this.#type, this.#registry ?? envoyRegistry());
    const found = this.#nameField(bytes, body.value);
    if (found !== undefined) return found;
    const value = bytes.subarray(body.value.start, body.value.end);
    try {
      return this.#type.nameOf(readBody(this.#type, body.typeUrl, value, this.#registry ?? envoyRegistry()));
    } catch (error) {
      // It has one by its place, and is judged with the others.
      if (this.#type.anyContent) return undefined;
      throw error;
    }
  }
}

function shown(typeUrl: string): string {
  return typeUrl === "" ? "empty" : typeUrl.slice(0, 200);
}
