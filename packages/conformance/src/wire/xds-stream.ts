import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import { nameList } from "../verdicts/names.js";
import { Failed } from "../verdicts/verdicts.js";
import { type CallOptions, CallStream } from "./call-stream.js";
import {
  decodeResponse,
  encodeRequest,
  type ProtocolVariant,
  type ReceivedResponse,
  type ResponseResource,
  type SentRequest,
} from "./messages.js";
import { requestWords, responseWords } from "./transcript.js";
import { typeWord } from "./type-words.js";

/** After so many responses one after the other, a picture never ends. */
const mostResponses = 20;

/** What a stream was sent of one type, taken together. */
export interface Picture {
  readonly resources: ReadonlyMap<string, ResponseResource>;
  readonly removed: ReadonlySet<string>;
  /** In the order of their arrival; one at least. */
  readonly responses: readonly ReceivedResponse[];
  readonly last: ReceivedResponse;
}

/** What an answer repeats of a type: its names, and the last version that was accepted. */
interface AskedOfServer {
  names: readonly string[];
  accepted: string;
}

/**
 * A stream to a server, and nothing that a client does by itself: it sends what a check says, and keeps what comes.
 * The node goes with the first request only.
 */
export class XdsStream extends CallStream {
  readonly variant: ProtocolVariant;
  readonly #node: Node;
  readonly #responses: ReceivedResponse[] = [];
  #untaken: ReceivedResponse[] = [];
  readonly #asked = new Map<string, AskedOfServer>();
  #hasNode = false;

  constructor(options: CallOptions & { readonly variant: ProtocolVariant; readonly node: Node }) {
    super(options);
    this.variant = options.variant;
    this.#node = options.node;
  }

  protected override read(bytes: Uint8Array): void {
    const response = decodeResponse(this.variant, bytes);
    this.#responses.push(response);
    this.#untaken.push(response);
    this.note(`< ${typeWord(response.type)} ${responseWords(response, this.transcript)}`);
  }

  /** Sends exactly this, and the node if it is the first request. */
  send(request: SentRequest): void {
    const node = this.#hasNode ? undefined : this.#node;
    this.#hasNode = true;
    const earlier = this.#responses.filter(({ type }) => type === request.type);
    const words = requestWords(request, earlier);
    this.note(`> ${typeWord(request.type)}${words === "" ? "" : ` ${words}`}${node === undefined ? "" : " (node)"}`);
    this.write(encodeRequest(this.variant, { node, ...request }));
  }

  /** Sends bytes that are no request. */
  sendBytes(bytes: Uint8Array): void {
    this.note(`> bytes ${Buffer.from(bytes).toString("hex")}`);
    this.write(bytes);
  }

  /** Subscribes to exactly these names (SotW), or to these as well (delta). Without names: the legacy wildcard. */
  ask(type: string, names: readonly string[] = [], more: Partial<SentRequest> = {}): void {
    if (this.variant === "sotw") this.#asked.set(type, { names, accepted: "" });
    this.send({ type, ...(this.variant === "sotw" ? { names } : { subscribe: names }), ...more });
  }

  /** Accepts a response. `more` changes what is asked for: `names` in SotW, `subscribe` and `unsubscribe` in delta. */
  ack(response: ReceivedResponse, more: Partial<SentRequest> = {}): void {
    const { type, version, nonce } = response;
    this.send({ type, nonce, ...this.#repeated(type, version, more), ...more });
  }

  /** Rejects a response: the version is that of the last one that was accepted. */
  nack(response: ReceivedResponse, more: Partial<SentRequest> = {}): void {
    const { type, nonce } = response;
    const error = "rejected by the conformance test";
    const accepted = this.#asked.get(type)?.accepted ?? "";
    this.send({ type, nonce, error, ...this.#repeated(type, accepted, more), ...more });
  }

  /** What an answer says that asks for further names: SotW all of them, delta those that are added. */
  adding(names: readonly string[], added: readonly string[]): Partial<SentRequest> {
    return this.variant === "sotw" ? { names: [...names, ...added] } : { subscribe: added };
  }

  /** Asks for further names: SotW by another answer to its last response, delta by a request of its own. */
  add(last: ReceivedResponse, names: readonly string[], added: readonly string[]): void {
    if (this.variant === "sotw") this.ack(last, this.adding(names, added));
    else this.ask(last.type, added);
  }

  /** The same for names that are asked for no more. `names`: those that are left. */
  drop(last: ReceivedResponse, names: readonly string[], dropped: readonly string[]): void {
    if (this.variant === "sotw") this.ack(last, { names });
    else this.send({ type: last.type, unsubscribe: dropped });
  }

  /** What each request of SotW says again: the names, and the version that the client uses. */
  #repeated(type: string, version: string, more: Partial<SentRequest>): Partial<SentRequest> {
    if (this.variant === "delta") return {};
    const names = more.names ?? this.#asked.get(type)?.names ?? [];
    this.#asked.set(type, { names, accepted: version });
    return { names, version };
  }

  /** The next response of the type, or of any. Throws Failed if none comes. */
  async next(type?: string): Promise<ReceivedResponse> {
    const response = await this.untilOver(() => this.#take(type));
    if (response !== undefined) return response;
    const what = type === undefined ? "response" : `response for ${typeWord(type)}`;
    throw new Failed(`no ${what} came within ${this.bounds.answerMs} ms`);
  }

  #take(type: string | undefined): ReceivedResponse | undefined {
    const response = this.#untaken.find((one) => type === undefined || one.type === type);
    if (response !== undefined) this.#untaken = this.#untaken.filter((one) => one !== response);
    return response;
  }

  /**
   * Accepts responses of a type until all names are known, as resources or as removed. Without names: until it is
   * quiet after the first response. Throws Failed if a name does not come.
   */
  async gather(type: string, names?: readonly string[]): Promise<Picture> {
    const resources = new Map<string, ResponseResource>();
    const removed = new Set<string>();
    const responses: ReceivedResponse[] = [];
    const take = (response: ReceivedResponse) => {
      responses.push(response);
      for (const one of response.resources) resources.set(one.name, one);
      for (const name of response.removed) removed.add(name);
      this.ack(response);
    };
    const missing = () => (names ?? []).filter((name) => !resources.has(name) && !removed.has(name));
    take(await this.next(type));
    while (missing().length > 0) {
      const response = await this.untilOver(() => this.#take(type));
      if (response === undefined) throw new Failed(`${typeWord(type)} did not come: ${nameList(missing())}`);
      take(response);
    }
    while (names === undefined) {
      await this.quiet();
      const response = this.#take(type);
      if (response === undefined) break;
      take(response);
      if (responses.length > mostResponses) throw new Failed(`${typeWord(type)} comes again and again, without end`);
    }
    return { resources, removed, responses, last: responses.at(-1)! };
  }

  /** Throws Failed if anything comes within the quiet time after what was sent has arrived, or the stream ends. */
  async silent(): Promise<void> {
    await this.quiet();
    this.check();
    const [response] = this.#untaken;
    if (response === undefined) return;
    const words = responseWords(response, this.transcript);
    throw new Failed(`a response came where none was due: ${typeWord(response.type)} ${words}`);
  }

  /** All that came of a type. */
  received(type: string): readonly ReceivedResponse[] {
    return this.#responses.filter((one) => one.type === type);
  }

  /** What came and was not taken yet, also if the stream is over. */
  taken(): readonly ReceivedResponse[] {
    return this.#untaken.splice(0);
  }

  /** What came within the quiet time, without accepting it. Throws Failed if the stream is over. */
  async comes(): Promise<readonly ReceivedResponse[]> {
    await this.quiet();
    this.check();
    return this.#untaken.splice(0);
  }

  /** The next response of the type, and what comes within the quiet time after it, without accepting any. */
  async answer(type: string): Promise<readonly ReceivedResponse[]> {
    return [await this.next(type), ...(await this.comes())];
  }

  /** Accepts what comes within the quiet time. Throws Failed if the stream is over. */
  async acceptRest(): Promise<void> {
    for (const response of await this.comes()) this.ack(response);
  }
}
