import type { Resource, ResourceType, TypeUrl } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import { ResourceSets } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { perishable } from "../acknowledgements/lifetimes.js";
import type { ResourceErrorPolicy, StreamOptions, TtlPolicy } from "../contract/options.js";
import { isTtlFatal, tellsTtl } from "../contract/ttl-policy.js";
import type { Subscriber } from "../state/subscriber.js";
import { tellsErrors } from "./resource-errors.js";

/**
 * Whether the client of one stream is told TTLs and the reasons of errors. That depends on its node's features and on
 * the settings of its group. It is decided when one of them changes and not for every response, since a node may list
 * any number of features.
 */
export class ReportedDetails {
  readonly #options: StreamOptions;
  #node: Node | undefined;
  #ttlPolicy: TtlPolicy | undefined;
  #errorPolicy: ResourceErrorPolicy | undefined;
  #ttl = false;
  #errors = false;
  /**
   * By type, the set that `noteUnreported` last looked through. The value undefined means that it has reported the
   * type.
   */
  #unreported:
    | Map<TypeUrl, { readonly all: Iterable<Resource>; readonly subscription: Subscription } | undefined>
    | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Sets the node of the stream. */
  identify(node: Node): void {
    this.#node = node;
    this.#decide();
  }

  /**
   * Sets the policies of the node's group. `ttl` undefined: no TTLs. `errors` undefined: as in the options. Returns
   * whether they changed.
   */
  follow(ttl: TtlPolicy | undefined, errors: ResourceErrorPolicy | undefined): boolean {
    if (ttl === this.#ttlPolicy && errors === this.#errorPolicy) return false;
    this.#ttlPolicy = ttl;
    this.#errorPolicy = errors;
    this.#decide();
    return true;
  }

  /** Whether the client is told the TTLs of this type. */
  ttl(type: ResourceType): boolean {
    return this.#ttl && this.#node !== undefined && !isTtlFatal(type, this.#options, this.#node);
  }

  /** The number of the client's resources with a TTL that it is not told; 0 once that was reported for the type. */
  noteUnreported({ type, subscription, sent: { set: sentSet } }: Subscriber): number {
    const all = ResourceSets.perishable(sentSet);
    if (all === undefined || this.ttl(type)) return 0;
    this.#unreported ??= new Map();
    const looked = this.#unreported.get(type.typeUrl);
    if (
      looked === undefined
        ? this.#unreported.has(type.typeUrl)
        : looked.all === all && looked.subscription === subscription
    )
      return 0;
    const { length } = perishable(subscription, sentSet);
    this.#unreported.set(type.typeUrl, length > 0 ? undefined : { all, subscription });
    return length;
  }

  /** Whether the client is told why resources are absent. */
  get errors(): boolean {
    return this.#errors;
  }

  #decide(): void {
    if (this.#node === undefined) return;
    const { api, resourceErrors = "advertised" } = this.#options;
    this.#ttl = this.#ttlPolicy !== undefined && tellsTtl(this.#options, this.#node, this.#ttlPolicy);
    this.#errors = api === "v3" && tellsErrors(this.#node, this.#errorPolicy ?? resourceErrors);
  }
}
