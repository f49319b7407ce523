import type { Nonce, ResourceName, ResourceType } from "@xdskit/api";
import { type Answer, Answers } from "./answers.js";
import { type Asking, type AskingContext, createAsking } from "./asked/asking.js";
import { DroppedNames } from "./asked/dropped-names.js";
import { LapsedNames } from "./asked/lapsed-names.js";
import { type WantedNames, wildcard } from "./asked/wanted-names.js";
import type { ClientStreamOptions, OutgoingRequest } from "./contract/contract.js";
import { isHeartbeat, type NamedResponse } from "./taken/response-reading.js";

/** The part of a request that outlives the stream. */
export interface RequestContext extends Pick<AskingContext, "version" | "claims"> {
  readonly wanted: WantedNames;
  /** Sent with the request, or undefined. */
  readonly node: Uint8Array | undefined;
}

/**
 * One type on one stream: the names that the server of the stream was told and must still be told, and the answers to
 * its responses. Each stream begins with a new one; `ClientType` has the state that outlives streams.
 */
export class TypeStream {
  readonly type: ResourceType;
  readonly answers = new Answers();
  /** Of the last response, for SotW. */
  #nonce = "";
  readonly #options: ClientStreamOptions;
  readonly #asking: Asking;
  /**
   * The names that the server surely knows, whichever requests cross its responses: those of the first request, and
   * those it sent. Names that are only there are not in it.
   */
  #known = new Set<ResourceName>();
  /** Current names that a full state lacked, whose server may not have known then that they are asked for. */
  readonly lacking = new Set<ResourceName>();
  readonly #dropped = new DroppedNames();
  readonly #lapsed = new LapsedNames();
  /** Everything was wanted and is no longer, and the server cannot be told (rule 50). */
  #isAllGivenUp = false;

  constructor(type: ResourceType, options: ClientStreamOptions, wanted: Iterable<ResourceName>) {
    this.type = type;
    this.#options = options;
    this.#asking = createAsking(type, options.variant, options.api, wanted);
  }

  /** Of the last response, for SotW. */
  get nonce(): Nonce {
    return this.#nonce;
  }

  responded(nonce: Nonce): void {
    this.#nonce = nonce;
    this.#dropped.responded();
  }

  /** A request was sent. */
  get isAsked(): boolean {
    return this.#asking.isAsked;
  }

  get known(): ReadonlySet<ResourceName> {
    return this.#known;
  }

  /** The server had its time to see that the name is asked for. */
  knows(key: ResourceName): void {
    this.#known.add(key);
  }

  /** Everything was wanted and is no longer, and the server cannot be asked anew. */
  get isAllGivenUp(): boolean {
    return this.#isAllGivenUp;
  }

  hasRequest(wanted: WantedNames): boolean {
    if (this.answers.isReady) return true;
    return this.#asking.names.isChanged && !this.#mustAnswerFirst && (this.isAsked || wanted.size > 0);
  }

  /** Changed names that the server was not told, since a decision is missing. */
  get holdsNames(): boolean {
    return this.#asking.names.isChanged && this.#mustAnswerFirst;
  }

  /**
   * A SotW request has the nonce of the last response, so one without an error acknowledges it, decided or not. Where
   * more responses wait, the names go at once: the server ignores names that come with the nonce of an older one.
   */
  get #mustAnswerFirst(): boolean {
    return this.#options.variant === "sotw" && this.answers.size === 1;
  }

  want(key: ResourceName): void {
    this.#asking.names.add(key);
    if (this.#dropped.want(key)) this.#asking.names.repeat(key);
  }

  drop(key: ResourceName): void {
    if (key === wildcard && this.#asking.isDeaf) this.#isAllGivenUp = true;
    this.#known.delete(key);
    this.lacking.delete(key);
    this.#lapsed.delete(key);
    this.#asking.names.delete(key);
    if (this.#options.variant === "sotw" && this.isAsked) this.#dropped.drop(key);
    this.#dropped.answered(key);
  }

  /** The time of a current resource is over. */
  lapse(key: ResourceName): void {
    this.#lapsed.add(key);
  }

  /** A resource came that is not taken. The server knows its name, unless it was sent because of an earlier request. */
  cameBadly(key: ResourceName, wanted: WantedNames): void {
    if (!this.#dropped.answered(key) && wanted.has(key)) this.#known.add(key);
  }

  /**
   * The server may not have seen that a name was dropped: it ignores a request that crosses a response (rule 27), and
   * sends nothing to a client that seems to have it. So the answer says it again, a few times at most.
   */
  repeatUnsure(isThere: (key: ResourceName) => boolean): void {
    this.#asking.crossed();
    for (const key of this.#dropped.takeRepeats(isThere)) this.#asking.names.repeat(key);
  }

  /** Asks again for resources that the server keeps alive although their time was over here. */
  askForLapsed({ resources }: NamedResponse, wanted: WantedNames): void {
    const { variant, api } = this.#options;
    const { names, isDeaf } = this.#asking;
    for (const named of resources) {
      const { key } = named;
      if (!isHeartbeat(named)) this.#lapsed.delete(key);
      else if (wanted.covers(key, []) && !isDeaf && this.#lapsed.revives(key)) {
        if (wanted.has(key)) names.repeat(key);
        else if (variant === "delta" && api === "v3") names.once(key);
      }
    }
  }

  /** The answer that the next request carries; the first request carries none. */
  takeAnswer(): Answer | undefined {
    return this.isAsked ? this.answers.take() : undefined;
  }

  request(answer: Answer | undefined, { wanted, node, version, claims }: RequestContext): OutgoingRequest {
    const { variant, api } = this.#options;
    const { typeUrl: v3, v2TypeUrl: v2, fullState } = this.type;
    // Only names that a full state lacks do not exist.
    if (!this.isAsked && fullState && variant === "sotw") this.#known = new Set(wanted.keys());
    // A SotW request names the last response that the client saw; a delta request only the one that it answers (the
    // comment of `response_nonce`).
    const nonce = answer?.nonce ?? (variant === "sotw" ? this.#nonce : "");
    const head = { typeUrl: api === "v2" ? (v2 ?? v3) : v3, node, nonce, error: answer?.error };
    const spelled = (key: ResourceName) => wanted.spelled(key);
    const isStale = nonce !== this.#nonce;
    if (!isStale) this.#dropped.requested();
    const bytes = this.#asking.request({ head, isStale, version, spelled, claims });
    const kind = answer === undefined ? "subscribe" : answer.error === undefined ? "ack" : "nack";
    return { type: this.type, bytes, kind };
  }
}
