import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import type { Bounds } from "../verdicts/bounds.js";
import { nameList } from "../verdicts/names.js";
import { Failed } from "../verdicts/verdicts.js";
import { Arrivals } from "./arrivals.js";
import type { Call, Connection } from "./connection.js";
import {
  decodeResponse,
  encodeRequest,
  type Received,
  type ReceivedResource,
  type Request,
  type Variant,
} from "./messages.js";
import { requestWords, responseWords, type Transcript } from "./transcript.js";
import { typeWord } from "./type-words.js";

/** After so many responses one after the other, a picture never ends. */
const mostResponses = 20;

/** How a stream ended: gRPC's status. */
export interface StreamEnd {
  readonly code: number;
  readonly message: string;
}

/** What a stream was sent of one type, taken together. */
export interface Picture {
  readonly resources: ReadonlyMap<string, ReceivedResource>;
  readonly removed: ReadonlySet<string>;
  /** In the order of their arrival; one at least. */
  readonly responses: readonly Received[];
  readonly last: Received;
}

export interface XdsStreamOptions {
  readonly variant: Variant;
  readonly path: string;
  readonly connection: Connection;
  readonly node: Node;
  readonly transcript: Transcript;
  /** Before each line of the transcript, if the check has several streams. */
  readonly label: string;
  readonly bounds: Bounds;
}

/** What an answer repeats of a type: its names, and the last version that was accepted. */
interface Asked {
  names: readonly string[];
  accepted: string;
}

/**
 * A stream to a server, and nothing that a client does by itself: it sends what a check says, and keeps what comes.
 * The node goes with the first request only.
 */
export class XdsStream {
  readonly variant: Variant;
  readonly #options: XdsStreamOptions;
  readonly #call: Call;
  readonly #responses: Received[] = [];
  #untaken: Received[] = [];
  readonly #asked = new Map<string, Asked>();
  #hasNode = false;
  #end: StreamEnd | undefined;
  #unreadable: string | undefined;
  #isCancelled = false;
  readonly #arrivals = new Arrivals();

  constructor(options: XdsStreamOptions) {
    this.#options = options;
    this.variant = options.variant;
    this.#call = options.connection.call(options.path);
    this.#call.on("data", (bytes: Uint8Array) => this.#received(bytes));
    this.#call.on("status", ({ code, details }) => {
      this.#end = { code, message: details };
      this.#note(`! ended ${code} ${details}`.trimEnd());
      this.#arrivals.arrived();
    });
    // The status says it all.
    this.#call.on("error", () => {});
  }

  #note(line: string): void {
    if (this.#isCancelled) return;
    this.#options.transcript.add(`${this.#options.label}${line}`);
  }

  #received(bytes: Uint8Array): void {
    try {
      const response = decodeResponse(this.variant, bytes);
      this.#responses.push(response);
      this.#untaken.push(response);
      this.#note(`< ${typeWord(response.type)} ${responseWords(response, this.#options.transcript)}`);
    } catch (error) {
      this.#unreadable = error instanceof Error ? error.message : String(error);
      this.#note(`< ${bytes.length} bytes that are no response: ${this.#unreadable}`);
    }
    this.#arrivals.arrived();
  }

  /** Sends exactly this, and the node if it is the first request. */
  send(request: Request): void {
    const node = this.#hasNode ? undefined : this.#options.node;
    this.#hasNode = true;
    const earlier = this.#responses.filter(({ type }) => type === request.type);
    const words = requestWords(request, earlier);
    this.#note(`> ${typeWord(request.type)}${words === "" ? "" : ` ${words}`}${node === undefined ? "" : " (node)"}`);
    if (this.#end === undefined) this.#call.write(encodeRequest(this.variant, { node, ...request }));
  }

  /** Sends bytes that are no request. */
  sendBytes(bytes: Uint8Array): void {
    this.#note(`> bytes ${Buffer.from(bytes).toString("hex")}`);
    if (this.#end === undefined) this.#call.write(bytes);
  }

  /** Subscribes to exactly these names (SotW), or to these as well (delta). Without names: the legacy wildcard. */
  ask(type: string, names: readonly string[] = [], more: Partial<Request> = {}): void {
    if (this.variant === "sotw") this.#asked.set(type, { names, accepted: "" });
    this.send({ type, ...(this.variant === "sotw" ? { names } : { subscribe: names }), ...more });
  }

  /** Accepts a response. `more` changes what is asked for: `names` in SotW, `subscribe` and `unsubscribe` in delta. */
  ack(response: Received, more: Partial<Request> = {}): void {
    const { type, version, nonce } = response;
    this.send({ type, nonce, ...this.#repeated(type, version, more), ...more });
  }

  /** Rejects a response: the version is that of the last one that was accepted. */
  nack(response: Received, more: Partial<Request> = {}): void {
    const { type, nonce } = response;
    const error = "rejected by the conformance test";
    const accepted = this.#asked.get(type)?.accepted ?? "";
    this.send({ type, nonce, error, ...this.#repeated(type, accepted, more), ...more });
  }

  /** What an answer says that asks for further names: SotW all of them, delta those that are added. */
  adding(names: readonly string[], added: readonly string[]): Partial<Request> {
    return this.variant === "sotw" ? { names: [...names, ...added] } : { subscribe: added };
  }

  /** Asks for further names: SotW by another answer to its last response, delta by a request of its own. */
  add(last: Received, names: readonly string[], added: readonly string[]): void {
    if (this.variant === "sotw") this.ack(last, this.adding(names, added));
    else this.ask(last.type, added);
  }

  /** The same for names that are asked for no more. `names`: those that are left. */
  drop(last: Received, names: readonly string[], dropped: readonly string[]): void {
    if (this.variant === "sotw") this.ack(last, { names });
    else this.send({ type: last.type, unsubscribe: dropped });
  }

  /** What each request of SotW says again: the names, and the version that the client uses. */
  #repeated(type: string, version: string, more: Partial<Request>): Partial<Request> {
    if (this.variant === "delta") return {};
    const names = more.names ?? this.#asked.get(type)?.names ?? [];
    this.#asked.set(type, { names, accepted: version });
    return { names, version };
  }

  /** How the server ended the stream; undefined while it has not. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** Ends the client's side. */
  finish(): void {
    this.#note("> end");
    this.#call.end();
  }

  /** Ends the stream at once; nothing is awaited. */
  cancel(): void {
    this.#isCancelled = true;
    this.#call.cancel();
  }

  /** The status that the server ends the stream with. Throws Failed if it does not. */
  async ended(): Promise<StreamEnd> {
    const end = await this.#until(() => this.#end);
    if (end === undefined) throw new Failed(`the stream had not ended ${this.#options.bounds.answerMs} ms later`);
    return end;
  }

  /** The next response of the type. Throws Failed if none comes. */
  async next(type: string): Promise<Received> {
    const response = await this.#until(() => this.#take(type), true);
    if (response !== undefined) return response;
    throw new Failed(`no response for ${typeWord(type)} came within ${this.#options.bounds.answerMs} ms`);
  }

  /** The next response of any type. Throws Failed if none comes. */
  async nextOfAny(): Promise<Received> {
    const response = await this.#until(() => this.#untaken.shift(), true);
    if (response !== undefined) return response;
    throw new Failed(`no response came within ${this.#options.bounds.answerMs} ms`);
  }

  #take(type: string): Received | undefined {
    const response = this.#untaken.find((one) => one.type === type);
    if (response !== undefined) this.#untaken = this.#untaken.filter((one) => one !== response);
    return response;
  }

  /**
   * Accepts responses of a type until all names are known, as resources or as removed. Without names: until it is
   * quiet after the first response. Throws Failed if a name does not come.
   */
  async gather(type: string, names?: readonly string[]): Promise<Picture> {
    const resources = new Map<string, ReceivedResource>();
    const removed = new Set<string>();
    const responses: Received[] = [];
    const take = (response: Received) => {
      responses.push(response);
      for (const one of response.resources) resources.set(one.name, one);
      for (const name of response.removed) removed.add(name);
      this.ack(response);
    };
    const missing = () => (names ?? []).filter((name) => !resources.has(name) && !removed.has(name));
    take(await this.next(type));
    while (missing().length > 0) {
      const response = await this.#until(() => this.#take(type), true);
      if (response === undefined) throw new Failed(`${typeWord(type)} did not come: ${nameList(missing())}`);
      take(response);
    }
    while (names === undefined) {
      await this.#quiet();
      const response = this.#take(type);
      if (response === undefined) break;
      take(response);
      if (responses.length > mostResponses) throw new Failed(`${typeWord(type)} comes again and again, without end`);
    }
    return { resources, removed, responses, last: responses.at(-1)! };
  }

  /** Throws Failed if anything comes within the quiet time after what was sent has arrived, or the stream ends. */
  async silent(): Promise<void> {
    await this.#quiet();
    this.#check();
    const [response] = this.#untaken;
    if (response === undefined) return;
    const words = responseWords(response, this.#options.transcript);
    throw new Failed(`a response came where none was due: ${typeWord(response.type)} ${words}`);
  }

  /** All that came of a type. */
  received(type: string): readonly Received[] {
    return this.#responses.filter((one) => one.type === type);
  }

  /** What came and was not taken yet, also if the stream is over. */
  taken(): readonly Received[] {
    return this.#untaken.splice(0);
  }

  /** What came within the quiet time, without accepting it. Throws Failed if the stream is over. */
  async comes(): Promise<readonly Received[]> {
    await this.#quiet();
    this.#check();
    return this.#untaken.splice(0);
  }

  /** The next response of the type, and what comes within the quiet time after it, without accepting any. */
  async answer(type: string): Promise<readonly Received[]> {
    return [await this.next(type), ...(await this.comes())];
  }

  /** Accepts what comes within the quiet time. Throws Failed if the stream is over. */
  async acceptRest(): Promise<void> {
    for (const response of await this.comes()) this.ack(response);
  }

  #quiet(): Promise<void> {
    this.#note("…");
    return this.#options.connection.quiet();
  }

  /** Throws Failed if the stream is over, or the server sent something else than responses. */
  #check(): void {
    if (this.#unreadable !== undefined) throw new Failed(`what came is no response: ${this.#unreadable}`);
    if (this.#end === undefined) return;
    const { code, message } = this.#end;
    throw new Failed(`the server ended the stream: status ${code}${message === "" ? "" : ` (${message})`}`);
  }

  /** What `look` gives, as soon as it does; undefined after the time for an answer. */
  #until<T>(look: () => T | undefined, isStreamNeeded = false): Promise<T | undefined> {
    const orOver = () => {
      const found = look();
      if (found === undefined) this.#check();
      return found;
    };
    return this.#arrivals.until(isStreamNeeded ? orOver : look, this.#options.bounds.answerMs);
  }
}
