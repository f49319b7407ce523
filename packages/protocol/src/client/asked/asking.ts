import type { ApiVersion, ResourceName, ResourceType, Version } from "@xdskit/api";
import { maxRepeats } from "../../model/basics/limits.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import {
  type EncodedNames,
  encodeNames,
  type RequestHead,
  writeDeltaRequest,
  writeSotwRequest,
} from "../../wire/requests/write-request.js";
import { AskedNames } from "./asked-names.js";
import { wildcard } from "./wanted-names.js";

/** The parts of a request other than names. */
export interface AskingContext {
  readonly head: RequestHead;
  /** SotW: it answers an earlier response than the last one, so that the server ignores its names (rule 27). */
  readonly isStale: boolean;
  /** SotW: the version that was accepted last. */
  readonly version: Version;
  /** A name in the spelling of the request. */
  readonly spelled: (key: ResourceName) => ResourceName;
  /** For the first request of a delta stream (rule 112). */
  readonly claims: () => Iterable<readonly [name: ResourceName, version: Version]>;
}

/** The names that requests of one type carry on one stream, which is where SotW and delta differ most. */
export abstract class Asking {
  readonly names: AskedNames;
  readonly #wildcardIsEmpty: boolean;
  /** A request was sent on this stream. */
  isAsked = false;
  /** No names were sent, which means everything. */
  protected isImplicit = false;

  constructor(type: ResourceType, wanted: Iterable<ResourceName>) {
    this.names = new AskedNames(wanted);
    this.#wildcardIsEmpty = type.emptyFirstRequest === "wildcard";
  }

  /**
   * Rule 50: the server ignores names on this stream, since the first request asked for everything without any; it also
   * ignores that everything is no longer wanted.
   */
  get isDeaf(): boolean {
    return false;
  }

  /** A response came: it may have crossed the last requests. */
  crossed(): void {}

  /** The next request, whatever its purpose. */
  request(context: AskingContext): Uint8Array {
    const isFirst = !this.isAsked;
    this.isAsked = true;
    return this.write(context, isFirst);
  }

  protected abstract write(context: AskingContext, isFirst: boolean): Uint8Array;

  /** Tells whether a request without names asks for everything. */
  protected get canBeImplicit(): boolean {
    return this.#wildcardIsEmpty && this.names.wants(wildcard);
  }
}

export function createAsking(
  type: ResourceType,
  sotwOrDelta: SotwOrDelta,
  api: ApiVersion,
  wanted: Iterable<ResourceName>,
): Asking {
  return new (sotwOrDelta === "sotw" ? SotwAsking : DeltaAsking)(type, api, wanted);
}

class SotwAsking extends Asking {
  readonly #api: ApiVersion;
  #encoded: EncodedNames = encodeNames([]);
  #isDeaf = false;
  /** The number of times that the end of an implicit wildcard may be said anew; undefined while it lasts. */
  #repeats: number | undefined;

  constructor(type: ResourceType, api: ApiVersion, wanted: Iterable<ResourceName>) {
    super(type, wanted);
    this.#api = api;
  }

  override get isDeaf(): boolean {
    return this.#isDeaf;
  }

  /** Rule 27: a server that sent a response meanwhile ignored that everything is no longer wanted. */
  override crossed(): void {
    if (this.#repeats === undefined || this.#repeats === 0 || !this.names.leavesNothing) return;
    this.#repeats -= 1;
    if (this.names.sent.has(wildcard)) this.isImplicit = true;
    else this.names.once(wildcard);
  }

  protected write(context: AskingContext, isFirst: boolean): Uint8Array {
    if (!context.isStale) this.#change(isFirst, context.spelled);
    return writeSotwRequest(context.head, context.version, this.#encoded);
  }

  #change(isFirst: boolean, spelled: AskingContext["spelled"]): void {
    const { names } = this;
    if (isFirst || this.isImplicit) {
      // Rule 50: in v2, after a first request without names, the server ignores names.
      const isAll = this.canBeImplicit && (this.#api === "v2" || names.wantsOnly(wildcard));
      if (isFirst) this.#isDeaf = isAll && this.#api === "v2";
      if (isAll) {
        this.isImplicit = true;
        this.#encoded = encodeNames([]);
        names.take();
        return;
      }
      if (this.isImplicit && names.leavesNothing) {
        // Rules 44, 46: an empty request would mean everything again. Only a wildcard that was named can be taken back.
        this.isImplicit = false;
        this.#repeats ??= maxRepeats;
        this.#encoded = encodeNames([wildcard]);
        return;
      }
      this.isImplicit = false;
    }
    if (!names.isChanged) return;
    names.take();
    this.#encoded = encodeNames([...names.sent].map(spelled));
  }
}

class DeltaAsking extends Asking {
  readonly #api: ApiVersion;

  constructor(type: ResourceType, api: ApiVersion, wanted: Iterable<ResourceName>) {
    super(type, wanted);
    this.#api = api;
  }

  protected write({ head, spelled, claims }: AskingContext, isFirst: boolean): Uint8Array {
    const { names } = this;
    // Rule 112: a pure wildcard stays empty. In v2 so does any (rule 50), and the other names follow.
    const isImplicit = isFirst && this.canBeImplicit && (this.#api === "v2" || names.wantsOnly(wildcard));
    const { plus, minus } = names.take(isImplicit ? wildcard : undefined);
    const subscribe = isImplicit ? [] : [...plus].map(spelled);
    return writeDeltaRequest(head, {
      subscribe,
      unsubscribe: [...minus].map(spelled),
      claims: isFirst ? claims() : [],
    });
  }
}
