import { fromJson, toJson } from "@bufbuild/protobuf";
import { envoyRegistry, messageOf, resourceTypes } from "@xdskit/api";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed } from "../verdicts/verdicts.js";
import type { Connection } from "./connection.js";
import { type ReceivedResponse, receivedState, type SentRequest, stateRequest } from "./messages.js";
import { PeerArrivals } from "./peer-arrivals.js";
import { requestWords, responseWords, type Transcript } from "./transcript.js";
import { typeWord } from "./type-words.js";

/** What a server answers a poll with. */
export interface PollReply {
  readonly status: number;
  readonly body: string;
  /** Undefined if the status is not 200. */
  readonly response: ReceivedResponse | undefined;
}

/** How a poll is written. */
export interface PollForm {
  /** Names of fields: as JSON usually has them, or as the proto has them. */
  readonly spelling?: "json" | "proto";
  /** Instead of the request: a text that is sent as it is. */
  readonly body?: string;
}

export interface PollOptions {
  /** The URL before `/v3/discovery:…`. */
  readonly rest: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly request: Omit<SentRequest, "type"> & PollForm;
  readonly transcript: Transcript;
  readonly bounds: Bounds;
  /** To the same server. */
  readonly connection: Connection;
}

/** The largest body that is read. */
const largestBody = 256 << 20;

/** A poll over REST. It is sent at once. */
export class Poll {
  readonly #abort = new AbortController();
  readonly #options: PollOptions;
  readonly #arrivals = new PeerArrivals();
  #answer: PollReply | Failed | undefined;

  constructor(options: PollOptions) {
    this.#options = options;
    const { rest, headers, type, request, transcript } = options;
    const words = requestWords({ type, ...request }, []);
    transcript.add(`> poll ${typeWord(type)}${words === "" ? "" : ` ${words}`}`);
    const path = resourceTypes.byTypeUrl(type)?.type.restPath;
    const registry = envoyRegistry();
    const useProtoFieldName = request.spelling === "proto";
    const json = toJson(DiscoveryRequestSchema, stateRequest({ type: "", ...request }), {
      registry,
      useProtoFieldName,
    });
    const body = request.body ?? JSON.stringify(json);
    void this.#play(`${rest}/v3/discovery:${path}`, body, headers).then((answer) => {
      this.#answer = answer;
      this.#arrivals.arrived();
    });
  }

  async #play(url: string, body: string, more: PollOptions["headers"]): Promise<PollReply | Failed> {
    try {
      const headers = { ...more, "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body, signal: this.#abort.signal });
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const part of answer.body ?? []) {
        parts.push(part);
        length += part.length;
        if (length > largestBody) return new Failed(`the body is larger than ${largestBody} bytes`);
      }
      return this.#read(answer.status, Buffer.concat(parts).toString("utf8"));
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      return new Failed(`the poll failed: ${cause}`);
    }
  }

  #read(status: number, body: string): PollReply | Failed {
    if (status !== 200) {
      this.#options.transcript.add(`< poll ${status}`);
      return { status, body, response: undefined };
    }
    try {
      const message = fromJson(DiscoveryResponseSchema, JSON.parse(body), { registry: envoyRegistry() });
      const response = receivedState(message);
      this.#options.transcript.add(
        `< poll ${typeWord(response.type)} ${responseWords(response, this.#options.transcript)}`,
      );
      return { status, body, response };
    } catch (error) {
      this.#options.transcript.add(`< poll ${body.length} bytes that are no response`);
      return new Failed(`what came is no response: ${messageOf(error)}`);
    }
  }

  /** The answer. Throws Failed if none comes. */
  async answer(): Promise<PollReply> {
    const { connection, bounds } = this.#options;
    const answer = await connection.awaited(this.#arrivals, () => this.#answer);
    if (answer instanceof Failed) throw answer;
    if (answer !== undefined) return answer;
    throw new Failed(`the poll was not answered within ${bounds.answerMs} ms`);
  }

  /** The answer, if there is one already. Throws Failed if it cannot be read. */
  get answered(): PollReply | undefined {
    if (this.#answer instanceof Failed) throw this.#answer;
    return this.#answer;
  }

  /** The response. Throws Failed if something else comes, or nothing. */
  async response(): Promise<ReceivedResponse> {
    const { status, response } = await this.answer();
    if (response === undefined) throw new Failed(`the poll was answered with status ${status}`);
    return response;
  }

  /** Gives it up. */
  cancel(): void {
    this.#abort.abort();
  }
}
