import { fromBinary, type Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import type { Mistake } from "./mistakes.js";
import type { ReferenceResource, ReferenceState } from "./reference-state.js";

/** What all streams of the reference server share. */
export interface Shared {
  readonly state: ReferenceState;
  readonly mistakes: ReadonlySet<Mistake>;
  /** Ends every stream. */
  readonly endAll: (code: number) => void;
}

/** Where a session sends to. */
export interface Outlet {
  readonly send: (bytes: Uint8Array) => void;
  readonly end: (code: number, message: string) => void;
}

/** What both variants' requests have. */
export interface CommonRequest {
  readonly typeUrl: string;
  readonly node?: Node | undefined;
  readonly responseNonce: string;
  readonly errorDetail?: object | undefined;
}

const invalidArgument = 3;
const resourceExhausted = 8;
/** What a server of gRPC takes by default. */
const usualLimit = 4 << 20;
/** So late that what a client asked for besides is sent before, also on a busy machine. */
const lateMs = 300;
const order = [".Cluster", ".ClusterLoadAssignment", ".Listener", ".RouteConfiguration"];
const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** The part of a stream that does not depend on the variant: nodes, types, nonces. */
export abstract class Session<Request extends Message & CommonRequest = Message & CommonRequest> {
  protected readonly shared: Shared;
  protected readonly outlet: Outlet;
  /** The type of a service of a single type; undefined for ADS. */
  protected readonly only: string | undefined;
  readonly #nonces = new Set<string>();
  #last = "";
  #node: Node | undefined;
  readonly #beats = new Map<string, NodeJS.Timeout>();
  #isStalled = false;
  readonly #stalled = new Set<string>();
  /** The nonce of the last response of each type, until it is answered. */
  readonly #unanswered = new Map<string, string>();
  readonly #lastAnswers = new Map<string, string>();
  readonly #rejected = new Set<string>();

  constructor(shared: Shared, outlet: Outlet, only: string | undefined) {
    this.shared = shared;
    this.outlet = outlet;
    this.only = only;
  }

  protected does(mistake: Mistake): boolean {
    return this.shared.mistakes.has(mistake);
  }

  protected newNonce(): string {
    const nonce = this.does("no-nonce") ? "" : this.does("same-nonce") ? "same" : `n${this.#nonces.size + 1}`;
    this.#nonces.add(nonce);
    this.#last = nonce;
    return nonce;
  }

  /** Whether a nonce is that of the last response of the stream, of whatever type. */
  protected isLastOfAll(nonce: string): boolean {
    return nonce === this.#last;
  }

  protected isMade(nonce: string): boolean {
    return this.#nonces.has(nonce);
  }

  /** The type that a request is about; undefined if it needs no more. */
  protected typeOf({ typeUrl, node, responseNonce, errorDetail }: CommonRequest, isFirst: boolean): string | undefined {
    const isRefused =
      (node === undefined && (this.#node === undefined || this.does("node-always"))) ||
      (node !== undefined && this.#node !== undefined && this.does("node-only-once")) ||
      (node !== undefined && this.#node !== undefined && node.id !== this.#node.id && this.does("node-fixed")) ||
      (node !== undefined && node.extensions.length > 100 && this.does("small-nodes"));
    if (isRefused) return this.#refuse("the node is not as it should be");
    this.#node ??= node;
    const type = this.#typeBy(typeUrl);
    if (type === undefined) return this.#refuse(`no such type here: ${typeUrl}`);
    if (!this.shared.state.knows(type))
      return this.does("unknown-type-ends") ? this.#refuse("unknown type") : undefined;
    if (responseNonce !== "" && !isFirst && !this.isMade(responseNonce) && this.does("unknown-nonce-ends")) {
      return this.#refuse("unknown nonce");
    }
    if (this.#unanswered.get(type) === responseNonce) {
      this.#unanswered.set(type, "");
      if (errorDetail === undefined) this.#rejected.delete(type);
      else this.#rejected.add(type);
    }
    if (errorDetail !== undefined && this.does("rejected-stalls")) this.#stalled.add(type);
    if (errorDetail !== undefined && this.does("nack-ends")) return this.#refuse("rejected");
    if (errorDetail !== undefined && this.does("nack-stalls")) this.#isStalled = true;
    return this.#isStalled ? undefined : type;
  }

  /** The node of the stream, once it is known. */
  get node(): Node | undefined {
    return this.#node;
  }

  /** Whether the client says that it understands something. */
  protected understands(feature: string): boolean {
    return this.#node?.clientFeatures.includes(feature) ?? false;
  }

  protected get isTtlTold(): boolean {
    return this.understands("xds.config.supports-resource-ttl") && !this.does("ttl-untold");
  }

  /** The errors that are due for names of a type that do not exist: those that were not told. */
  protected errorsFor(missing: readonly string[], told: Set<string>): readonly string[] {
    if (!this.understands("xds.config.supports-resource-errors") || this.does("errors-untold")) return [];
    const due = missing.filter((name) => !told.has(name));
    const again = this.does("error-again") ? [...told] : [];
    for (const name of due) told.add(name);
    return [...again, ...due];
  }

  /** Renews the TTLs of a type's resources, as long as the stream is open, or until it is called again. */
  protected beat(type: string, resources: readonly ReferenceResource[], send: () => void): void {
    clearInterval(this.#beats.get(type));
    const ttls = resources.flatMap(({ ttlMs }) => ttlMs ?? []);
    if (ttls.length === 0 || !this.isTtlTold || this.does("no-heartbeats")) return;
    this.#beats.set(type, setInterval(send, Math.min(...ttls) / 3).unref());
  }

  /** The stream is over. */
  close(): void {
    for (const beat of this.#beats.values()) clearInterval(beat);
  }

  /** How the client answered the last response of each type. */
  get statuses(): ReadonlyMap<string, "sent" | "accepted" | "rejected"> {
    const statusOf = ([type, nonce]: readonly [string, string]) =>
      [type, nonce !== "" ? "sent" : this.#rejected.has(type) ? "rejected" : "accepted"] as const;
    return new Map([...this.#unanswered].map(statusOf));
  }

  /** Whether an ACK is the one that came last for the type. */
  protected isRepeated(type: string, nonce: string): boolean {
    const isRepeated = nonce !== "" && this.#lastAnswers.get(type) === nonce;
    this.#lastAnswers.set(type, nonce);
    return isRepeated;
  }

  #typeBy(url: string): string | undefined {
    if (this.only === undefined) return url === "" && this.does("type-guessed") ? clusters : url || undefined;
    if (url === "") return this.does("service-needs-type") ? undefined : this.only;
    return url === this.only || this.does("service-any-type") ? url : undefined;
  }

  #refuse(message: string): undefined {
    this.outlet.end(invalidArgument, message);
    return undefined;
  }

  /** Ends the stream if it names more than a mistaken server takes. */
  protected isTooMuch(type: string, names: readonly string[]): boolean {
    const isMissing = names.length === 1 && names[0] !== "*" && !this.shared.state.of(type).has(names[0]!);
    const isRefused = (names.length > 500 && this.does("few-names")) || (isMissing && this.does("missing-ends"));
    if (isRefused) this.outlet.end(resourceExhausted, "this is too much");
    return isRefused;
  }

  protected deliver(type: string, nonce: string, bytes: Uint8Array): void {
    this.#unanswered.set(type, nonce);
    if (!order.some((end) => type.endsWith(end)) && this.does("other-types-untold")) return;
    if (type === clusters && this.does("clusters-last")) setTimeout(() => this.outlet.send(bytes), lateMs);
    else this.outlet.send(bytes);
  }

  /** The bytes are no request. */
  #broken(): void {
    if (this.does("broken-bytes-end-all")) this.shared.endAll(invalidArgument);
    else this.#refuse("this is no request");
  }

  /** Takes what came in. */
  received(bytes: Uint8Array): void {
    const request = this.#decoded(bytes);
    if (bytes.length > usualLimit && this.does("large-ends-all")) this.shared.endAll(resourceExhausted);
    if (request === undefined) this.#broken();
    else this.request(request);
    this.shared.state.answered();
  }

  /** Whether the client has answered the last response of each type. */
  get isInSync(): boolean {
    return [...this.#unanswered.values()].every((nonce) => nonce === "");
  }

  /** The types of subscriptions, in the order in which their changes go. */
  protected inOrder<T>(subscriptions: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
    if (this.does("updates-untold") || (this.only !== undefined && this.does("service-deaf"))) return [];
    const rank = (type: string) => order.findIndex((end) => type.endsWith(end));
    const sorted = [...subscriptions].sort(([one], [other]) => rank(one) - rank(other));
    const open = sorted.filter(([type]) => !this.#stalled.has(type));
    return this.does("updates-backwards") ? open.reverse() : open;
  }

  /** Undefined if the bytes are no request. */
  #decoded(bytes: Uint8Array): Request | undefined {
    try {
      return fromBinary(this.schema, bytes);
    } catch {
      return undefined;
    }
  }

  protected abstract readonly schema: GenMessage<Request>;
  protected abstract request(request: Request): void;
  abstract contentChanged(): void;
}

/** Whether the type has a wildcard, and full state in SotW. */
export function hasWildcard(type: string): boolean {
  return type === clusters || type === "type.googleapis.com/envoy.config.listener.v3.Listener";
}
