import type { ApiVersion, ResourceName, ResourceType, Version } from "@xdskit/api";
import {
  type EncodedNames,
  encodeNames,
  type RequestHead,
  writeDeltaRequest,
  writeSotwRequest,
} from "../messages/write-request.js";
import type { Variant } from "../server/contract.js";
import { AskedNames } from "./asked-names.js";
import { wildcard } from "./wanted-names.js";

/** What a request says besides names. */
export interface AskingContext {
  readonly head: RequestHead;
  /** SotW: of what was accepted last. */
  readonly version: Version;
  /** A name as it was asked for. */
  readonly spelled: (key: ResourceName) => ResourceName;
  /** For the first request of a delta stream (rule 112). */
  readonly claims: () => Iterable<readonly [name: ResourceName, version: Version]>;
}

/** The names that requests of one type carry, which is where the variants differ most. */
export abstract class Asking {
  readonly names = new AskedNames();
  readonly #wildcardIsEmpty: boolean;
  /** A request was sent on this stream. */
  isAsked = false;
  /** The only names that were sent are none, which means all. */
  protected isImplicit = false;

  constructor(type: ResourceType) {
    this.#wildcardIsEmpty = type.emptyFirstRequest === "wildcard";
  }

  /** Rule 50: names are not heard on this stream, since all was asked for without any; nor is that it is wanted no more. */
  get isDeaf(): boolean {
    return false;
  }

  opened(wanted: Iterable<ResourceName>): void {
    this.names.reset(wanted);
    this.isAsked = false;
    this.isImplicit = false;
  }

  /** The next request, whatever it is for. */
  request(context: AskingContext): Uint8Array {
    const isFirst = !this.isAsked;
    this.isAsked = true;
    return this.write(context, isFirst);
  }

  protected abstract write(context: AskingContext, isFirst: boolean): Uint8Array;

  /** Whether a request without names says that all is wanted. */
  protected get canBeImplicit(): boolean {
    return this.#wildcardIsEmpty && this.names.wants(wildcard);
  }
}

export function createAsking(type: ResourceType, variant: Variant, api: ApiVersion): Asking {
  return variant === "sotw" ? new SotwAsking(type, api) : new DeltaAsking(type, api);
}

class SotwAsking extends Asking {
  readonly #api: ApiVersion;
  #encoded: EncodedNames = encodeNames([]);
  #isDeaf = false;

  constructor(type: ResourceType, api: ApiVersion) {
    super(type);
    this.#api = api;
  }

  override get isDeaf(): boolean {
    return this.#isDeaf;
  }

  protected write(context: AskingContext, isFirst: boolean): Uint8Array {
    this.#change(isFirst, context.spelled);
    return writeSotwRequest(context.head, context.version, this.#encoded);
  }

  #change(isFirst: boolean, spelled: AskingContext["spelled"]): void {
    const { names } = this;
    if (isFirst || this.isImplicit) {
      // Rule 50: where v2 was first asked without names it hears of no others.
      const isAll = this.canBeImplicit && (this.#api === "v2" || names.wantsOnly(wildcard));
      if (isFirst) this.#isDeaf = isAll && this.#api === "v2";
      if (isAll) {
        this.isImplicit = true;
        this.#encoded = encodeNames([]);
        names.take();
        return;
      }
      if (this.isImplicit && names.leavesNothing) {
        // Rules 44, 46: without names it goes on; only once it was named it can be taken back.
        this.isImplicit = false;
        this.#encoded = encodeNames([wildcard]);
        return;
      }
      this.isImplicit = false;
    }
    if (!names.isChanged) return;
    names.take();
    this.#encoded = encodeNames([...names.told].map(spelled));
  }
}

class DeltaAsking extends Asking {
  readonly #api: ApiVersion;

  constructor(type: ResourceType, api: ApiVersion) {
    super(type);
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
