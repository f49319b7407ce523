import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed } from "../verdicts/verdicts.js";
import { decodeResponse, type ProtocolVariant, type ReceivedResponse, type SentRequest } from "../wire/messages.js";
import { PeerArrivals } from "../wire/peer-arrivals.js";
import { requestWords, responseWords, type Transcript } from "../wire/transcript.js";
import { typeWord } from "../wire/type-words.js";

/** A call of a client, as bytes. */
export type ClientCall = ServerDuplexStream<Uint8Array, Uint8Array>;

/** A resource as it is sent to a client. */
export interface NamedBody {
  readonly name: string;
  readonly body: Uint8Array;
}

/** A stream that a client opened: it keeps what the client says, and sends what a check says. */
export class CheckedStream {
  readonly variant: ProtocolVariant;
  readonly #call: ClientCall;
  readonly #transcript: Transcript;
  readonly #bounds: Bounds;
  readonly #label: string;
  readonly #subscribed = new Map<string, Set<string>>();
  readonly #sent: ReceivedResponse[] = [];
  #untaken: SentRequest[] = [];
  #isOver = false;
  readonly #arrivals = new PeerArrivals();

  constructor(variant: ProtocolVariant, call: ClientCall, transcript: Transcript, bounds: Bounds, label: string) {
    this.variant = variant;
    this.#call = call;
    this.#transcript = transcript;
    this.#bounds = bounds;
    this.#label = label;
    transcript.add(`${label}# the client opens a ${variant} stream`);
    call.on("data", (bytes: Uint8Array) => this.#received(bytes));
    const over = () => {
      this.#isOver = true;
      this.#arrivals.arrived();
    };
    call.on("end", over);
    call.on("cancelled", over);
    call.on("error", () => {});
  }

  #received(bytes: Uint8Array): void {
    const request = decodeRequest(this.variant, bytes);
    const words = requestWords(
      request,
      this.#sent.filter(({ type }) => type === request.type),
    );
    const node = request.node === undefined ? "" : " (node)";
    this.#transcript.add(`${this.#label}> ${typeWord(request.type)}${words === "" ? "" : ` ${words}`}${node}`);
    this.#subscribe(request);
    this.#untaken.push(request);
    this.#arrivals.arrived();
  }

  #subscribe({ type, names, subscribe = [], unsubscribe = [] }: SentRequest): void {
    const before = names === undefined ? this.subscribed(type) : [];
    const now = new Set([...before, ...(names ?? []), ...subscribe]);
    for (const name of unsubscribe) now.delete(name);
    this.#subscribed.set(type, now);
  }

  /** The names of a type that the client asks for now. */
  subscribed(type: string): ReadonlySet<string> {
    return this.#subscribed.get(type) ?? new Set();
  }

  /** The next request that is due; those before it are dropped. Throws Failed if it does not come. */
  async next(what: string, isDue: (request: SentRequest) => boolean = () => true): Promise<SentRequest> {
    const { answerMs } = this.#bounds;
    const due = await this.#arrivals.until(() => {
      const index = this.#untaken.findIndex(isDue);
      if (index !== -1) return this.#untaken.splice(0, index + 1).at(-1);
      if (this.#isOver) throw new Failed(`the client ended the stream before ${what}`);
      return undefined;
    }, answerMs);
    if (due === undefined) throw new Failed(`${what} did not come within ${answerMs} ms`);
    return due;
  }

  /** Sends a response. */
  send(
    type: string,
    version: string,
    resources: readonly NamedBody[],
    removed: readonly string[] = [],
  ): ReceivedResponse {
    const nonce = `n${this.#sent.length + 1}`;
    const bytes = encodeResponse(this.variant, { type, version, nonce, resources, removed });
    const response = decodeResponse(this.variant, bytes);
    this.#sent.push(response);
    this.#transcript.add(`${this.#label}< ${typeWord(type)} ${responseWords(response, this.#transcript)}`);
    this.#call.write(bytes);
    return response;
  }

  /** Ends the stream with a status of gRPC. */
  end(code: number): void {
    this.#transcript.add(`${this.#label}! ended ${code}`);
    this.#call.emit("error", { code, details: "ended by the conformance test" });
  }
}

function decodeRequest(variant: ProtocolVariant, bytes: Uint8Array): SentRequest {
  if (variant === "sotw") {
    const {
      typeUrl: type,
      node,
      versionInfo: version,
      resourceNames: names,
      responseNonce: nonce,
      errorDetail,
    } = fromBinary(DiscoveryRequestSchema, bytes);
    return { type, node, version, names, nonce, ...errorOf(errorDetail) };
  }
  const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
  return {
    type: request.typeUrl,
    node: request.node,
    subscribe: request.resourceNamesSubscribe,
    unsubscribe: request.resourceNamesUnsubscribe,
    initial: request.initialResourceVersions,
    nonce: request.responseNonce,
    ...errorOf(request.errorDetail),
  };
}

const errorOf = (detail: { readonly message: string } | undefined) =>
  detail === undefined ? {} : { error: detail.message };

interface Response {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly NamedBody[];
  /** Delta. */
  readonly removed: readonly string[];
}

function encodeResponse(
  variant: ProtocolVariant,
  { type: typeUrl, version, nonce, resources, removed }: Response,
): Uint8Array {
  const anyOf = ({ body: value }: NamedBody) => ({ typeUrl, value });
  if (variant === "sotw") {
    const message = { typeUrl, versionInfo: version, nonce, resources: resources.map(anyOf) };
    return toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, message));
  }
  const named = resources.map((one) => ({ name: one.name, version, resource: anyOf(one) }));
  const message = { typeUrl, systemVersionInfo: version, nonce, resources: named, removedResources: [...removed] };
  return toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, message));
}
