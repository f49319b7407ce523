import type { ResourceType } from "@xdskit/api";
import type { Node } from "../node.js";
import type { StreamOptions, TtlPolicy } from "./contract.js";
import { type ResourceErrorPolicy, tellsErrors } from "./resource-errors.js";
import { isTtlFatal, tellsTtl } from "./ttl-policy.js";

/**
 * Whether the client of one stream is told TTLs and the reasons of errors: that follows from the features that its node lists and from the settings of its group. It is decided when one of
 * the two changes and not for every response, since a node may list any number of features.
 */
export class Told {
  readonly #options: StreamOptions;
  #node: Node | undefined;
  #ttlPolicy: TtlPolicy | undefined;
  #errorPolicy: ResourceErrorPolicy | undefined;
  #ttl = false;
  #errors = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Whose stream it is. */
  identify(node: Node): void {
    this.#node = node;
    this.#decide();
  }

  /** The settings of the node's group; undefined for no TTLs, and for what the options say of errors. True where they are others than before. */
  follow(ttl: TtlPolicy | undefined, errors: ResourceErrorPolicy | undefined): boolean {
    if (ttl === this.#ttlPolicy && errors === this.#errorPolicy) return false;
    this.#ttlPolicy = ttl;
    this.#errorPolicy = errors;
    this.#decide();
    return true;
  }

  /** The client is told the TTLs of this type. */
  ttl(type: ResourceType): boolean {
    return this.#ttl && this.#node !== undefined && !isTtlFatal(type, this.#options, this.#node);
  }

  /** The client is told why resources are not there. */
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
