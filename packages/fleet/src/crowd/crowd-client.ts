import type { ResourceName, ResourceType } from "@xdskit/api";
import { nonceField, writeDeltaRequest, writeSotwRequest } from "@xdskit/protocol/wire";
import type { CrowdHolding } from "./holding.js";
import { type NameList, noNames } from "./name-list.js";
import type { SharedState, SharedType } from "./shared-state.js";
import type { TransitionOutcome } from "./transition.js";

/** One response, as one client read it. */
export interface CrowdResponse {
  readonly type: ResourceType;
  readonly resources: number;
  readonly removed: number;
  readonly from: CrowdHolding;
  /** The state once it is acknowledged; equal to `from` if nothing changed. */
  readonly to: CrowdHolding;
  /** The first of its type on this stream. */
  readonly isFirst: boolean;
  /** Why it cannot be taken: a resource cannot be read. Reject it with this text. */
  readonly problem: string | undefined;
  /** Takes the response, or rejects it; nothing once the client has read another one, or a stream of it is gone. */
  answer(error?: string): void;
}

/** One request, ready for the wire. */
export interface CrowdRequest {
  readonly bytes: Uint8Array;
  readonly kind: "subscribe" | "ack" | "nack";
}

/** A type for which a client still waits. */
export interface Lack {
  readonly type: ResourceType;
  /** The missing names; none where everything was asked for and nothing came. */
  readonly names: readonly ResourceName[];
}

/** What one client holds of one type, and what it told the server on this stream. */
interface CrowdStanding {
  readonly of: SharedType;
  readonly stream: number;
  holding: CrowdHolding;
  wanted: NameList;
  /** Undefined until the type was asked for on this stream. */
  requested: NameList | undefined;
  nonce: string;
  /** The pending answer to the last response: an acknowledgement, or a rejection with a text. */
  pending: "ack" | { readonly nack: string } | undefined;
  /** On any stream, and on this one. */
  answered: boolean;
  answeredHere: boolean;
}

/** The response that was read and not answered yet. */
interface UnansweredResponse {
  readonly standing: CrowdStanding;
  readonly nonce: string;
  readonly outcome: TransitionOutcome<CrowdHolding>;
}

/**
 * One of many clients: references to shared state, and what its streams were told. It asks as Envoy does: types in
 * delivery order, each after the one before was answered; named resources once they are named. Its resources outlive
 * its streams, and it claims them on the next ones. Streams have numbers from 0.
 */
export class CrowdClient {
  readonly #shared: SharedState;
  readonly #node: Uint8Array;
  readonly #group: number;
  readonly #standings: readonly CrowdStanding[];
  readonly #isNodeSent: boolean[];
  #received: UnansweredResponse | undefined;

  /**
   * `node` is the serialized `Node`. Clients of one `group` should be sent the same: if not, it costs work, but no
   * correctness.
   */
  constructor(shared: SharedState, node: Uint8Array, group: number) {
    this.#shared = shared;
    this.#node = node;
    this.#group = group;
    this.#standings = shared.types.map((of, index) => ({
      of,
      stream: shared.options.aggregated ? 0 : index,
      holding: of.empty,
      wanted: of.fixed ?? noNames,
      requested: undefined,
      nonce: "",
      pending: undefined,
      answered: false,
      answeredHere: false,
    }));
    this.#isNodeSent = Array.from({ length: this.streams }, () => false);
  }

  /** The number of streams: 1, or one for each type. */
  get streams(): number {
    return this.#shared.options.aggregated ? 1 : this.#standings.length;
  }

  /** The `/service/method` of a stream; undefined where the type has no such method. */
  pathOf(stream: number): string | undefined {
    const { aggregated, variant } = this.#shared.options;
    const ending = variant === "sotw" ? "Stream" : "Delta";
    if (aggregated) return `/envoy.service.discovery.v3.AggregatedDiscoveryService/${ending}AggregatedResources`;
    const service = this.#standings[stream]?.of.type.services.v3;
    const method = variant === "sotw" ? service?.stream : service?.delta;
    return service === undefined || method === undefined ? undefined : `/${service.service}/${method}`;
  }

  /** The next request for a stream; undefined where there is none. The first one of a stream carries the node. */
  next(stream: number): CrowdRequest | undefined {
    for (const standing of this.#standings) {
      if (standing.stream !== stream) continue;
      const { requested, wanted, pending } = standing;
      if (
        requested === undefined
          ? wanted.isEmpty || !this.#isDue(standing)
          : pending === undefined && requested === wanted
      )
        continue;
      return this.#request(standing);
    }
    return undefined;
  }

  /** A type with fixed names waits for the answer to the type before it; the others follow from the named resources. */
  #isDue(standing: CrowdStanding): boolean {
    for (const before of this.#standings) {
      if (before === standing) return true;
      const { of, answered, wanted } = before;
      if (of.fixed !== undefined && !answered && !wanted.isEmpty) return false;
    }
    return true;
  }

  #request(standing: CrowdStanding): CrowdRequest {
    const { of, stream, holding, wanted, requested, nonce, pending } = standing;
    const node = this.#isNodeSent[stream] === true ? undefined : this.#node;
    this.#isNodeSent[stream] = true;
    standing.pending = undefined;
    standing.requested = wanted;
    const { variant } = this.#shared.options;
    // The usual ACK: equal for all clients, except for the nonce.
    if (pending === "ack" && requested === wanted && node === undefined) {
      return { bytes: joined(holding.acknowledgement(wanted, variant), nonceField(variant, nonce)), kind: "ack" };
    }
    const error = typeof pending === "object" ? pending.nack : undefined;
    const { typeUrl } = of.type;
    const kind = pending === undefined ? "subscribe" : pending === "ack" ? "ack" : "nack";
    if (variant === "sotw") {
      // A client that names what it lacks must not claim to be up to date (rule 37).
      const version = requested === undefined && holding.lacking(wanted) > 0 ? "" : holding.version;
      return { bytes: writeSotwRequest({ typeUrl, node, nonce, error }, version, wanted.encoded), kind };
    }
    const head = { typeUrl, node, nonce: pending === undefined ? "" : nonce, error };
    const bytes = writeDeltaRequest(head, noChange);
    if (requested === wanted) return { bytes, kind };
    // Fields may come in any order.
    const change = requested === undefined ? holding.claims(wanted) : wanted.changeFrom(requested);
    return { bytes: joined(bytes, change), kind };
  }

  /**
   * Reads a response; the caller owns the bytes again afterwards. Undefined for a type that was not asked for. Throws
   * `MalformedMessage` if it is not a response.
   */
  receive(stream: number, bytes: Uint8Array): CrowdResponse | undefined {
    const received = this.#known(stream, bytes) ?? this.#read(stream, bytes);
    this.#received = received;
    if (received === undefined) return undefined;
    const { standing, outcome } = received;
    const isFirst = !standing.answeredHere;
    standing.answered = true;
    standing.answeredHere = true;
    const { resources, removed, problem, to } = outcome;
    const answer = (error?: string) => this.#answer(received, error);
    return { type: standing.of.type, resources, removed, from: standing.holding, to, isFirst, problem, answer };
  }

  /** The same response that others of the group got. */
  #known(stream: number, bytes: Uint8Array): UnansweredResponse | undefined {
    for (const standing of this.#standings) {
      if (standing.stream !== stream || standing.requested === undefined) continue;
      for (const transition of standing.holding.transitions(this.#group)) {
        const nonce = transition.nonceOf(bytes);
        const outcome = nonce === undefined ? undefined : transition.outcome;
        if (nonce !== undefined && outcome !== undefined) return { standing, nonce, outcome };
      }
    }
    return undefined;
  }

  #read(stream: number, bytes: Uint8Array): UnansweredResponse | undefined {
    const sent = this.#shared.readResponse(bytes);
    // A response of a per-type stream may leave out its type.
    const standing = this.#standings.find(
      ({ of, stream: own }) => own === stream && (of.type.typeUrl === sent.typeUrl || sent.typeUrl === ""),
    );
    if (standing?.requested === undefined) return undefined;
    return {
      standing,
      nonce: sent.nonce,
      outcome: this.#shared.apply(standing.of, standing.holding, sent, this.#group),
    };
  }

  #answer(received: UnansweredResponse, error: string | undefined): void {
    if (this.#received !== received) return;
    const { standing, nonce, outcome } = received;
    this.#received = undefined;
    standing.nonce = nonce;
    standing.pending = error === undefined ? "ack" : { nack: error };
    if (error === undefined) this.#hold(standing, outcome.to);
  }

  #hold(standing: CrowdStanding, to: CrowdHolding): void {
    if (standing.holding === to) return;
    standing.holding = this.#wantedOf(standing, to);
    if (!standing.of.refers) return;
    for (const other of this.#standings) {
      if (other.of.fixed !== undefined) continue;
      const wanted = this.#shared.wanted(
        other.of,
        this.#standings.map(({ holding }) => holding),
      );
      if (wanted === other.wanted) continue;
      other.wanted = wanted;
      other.holding = this.#wantedOf(other, other.holding);
    }
  }

  #wantedOf({ of, wanted }: CrowdStanding, holding: CrowdHolding): CrowdHolding {
    return holding.within(wanted, (entries) => {
      const kept = new Map(Array.from(entries, (entry) => [entry.name, entry] as const));
      return this.#shared.holding(of, kept, this.#shared.options.variant === "sotw" ? holding.version : "");
    });
  }

  /** The stream is gone. */
  closed(stream: number): void {
    this.#isNodeSent[stream] = false;
    this.#received = undefined;
    for (const standing of this.#standings) {
      if (standing.stream !== stream) continue;
      standing.requested = undefined;
      standing.nonce = "";
      standing.pending = undefined;
      standing.answeredHere = false;
    }
  }

  /** Every request was answered, and every name exists or is known to be missing. */
  get isComplete(): boolean {
    return this.#standings.every(isComplete);
  }

  /** What `isComplete` waits for. */
  lacks(): readonly Lack[] {
    return this.#standings
      .filter((standing) => !isComplete(standing))
      .map(({ of, wanted, holding }): Lack => ({ type: of.type, names: lacking(wanted, holding) }));
  }

  /** By type, in the order of the options. */
  get current(): readonly CrowdHolding[] {
    const { interests } = this.#shared.options;
    return interests.flatMap(({ type }) =>
      this.#standings.filter(({ of }) => of.type === type).map(({ holding }) => holding),
    );
  }
}

const noChange = { subscribe: [], unsubscribe: [], claims: [] };

function isComplete({ wanted, holding, answered }: CrowdStanding): boolean {
  return wanted.isOpen ? answered : holding.lacking(wanted) === 0;
}

function lacking(wanted: NameList, holding: CrowdHolding): readonly ResourceName[] {
  return [...wanted.names].filter((name) => !holding.entries.has(name) && !(wanted.isOpen && name === "*"));
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
