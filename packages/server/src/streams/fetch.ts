import type { ResourceName, ResourceType } from "@xdskit/api";
import { delimited, textBytes } from "@xdskit/api/wire";
import {
  createStream,
  type ResourceErrorPolicy,
  type Snapshot,
  type StatusCode,
  type Stream,
  type StreamEffect,
  statusCode,
} from "@xdskit/protocol";
import type { StreamInfo } from "../contracts/nodes/stream-info.js";
import type { NameDecision } from "../contracts/parts/supply.js";
import type { CallHandler, DiscoveryCall } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import { countResponse } from "../publication/counters.js";
import type { Membership } from "../publication/membership.js";
import type { GroupClient } from "../publication/stack-part.js";
import { errorsOfLate } from "./late-names.js";
import type { SessionContext } from "./session-context.js";

/**
 * If appended to a request, these fields clear `version_info` and `response_nonce` (the last value of a field counts).
 * A unary caller has no stream on which "nothing new" could be silence: it always gets the current state.
 */
const asIfItHadNothing = Uint8Array.of(delimited(1), 0, delimited(5), 0);

/**
 * Answers a unary `Fetch…` with the first response of a separate stream. While no configuration is known it fails with
 * UNAVAILABLE, which clients retry; an empty answer would tell them that there are no resources. Names that do not
 * exist are left out.
 */
export class UnaryFetch implements CallHandler {
  readonly #context: Omit<SessionContext<never>, "queue" | "ended">;
  readonly #call: DiscoveryCall;
  readonly #only: ResourceType;
  readonly #info: StreamInfo;
  readonly #stream: Stream;
  readonly #ended: () => void;
  readonly #caller: Caller;
  #isAsked = false;
  #isOver = false;
  #membership: Membership | undefined;
  #resourceErrors: ResourceErrorPolicy | undefined;
  #names: Iterable<ResourceName> = [];
  /** Names that may yet be supplied: without them the answer would say that they do not exist. */
  readonly #undecided = new Set<ResourceName>();
  readonly #late = new Set<ResourceName>();

  /** `ended` is called once when nothing is left of the call. */
  constructor(
    context: Omit<SessionContext<never>, "queue" | "ended">,
    call: DiscoveryCall,
    only: ResourceType,
    id: number,
    caller: Caller,
    ended: () => void,
  ) {
    this.#caller = caller;
    const { types, limits, defaultNode, onDemand, naming } = context;
    const { method, peer } = call;
    this.#context = context;
    this.#call = call;
    this.#only = only;
    this.#info = { id, method, peer };
    this.#ended = ended;
    const { api } = method;
    this.#stream = createStream({
      variant: "sotw",
      api,
      types,
      only,
      limits,
      defaultNode,
      onDemand: onDemand(caller),
      ...naming,
    });
  }

  received(bytes: Uint8Array): void {
    if (this.#isOver || this.#isAsked) return;
    this.#isAsked = true;
    this.#context.counters.fetch({ ...this.#info.method, only: this.#only }).calls += 1;
    this.#guard(() => {
      const request = Buffer.concat([bytes, asIfItHadNothing]);
      for (const effect of this.#stream.step({ kind: "request", bytes: request }))
        if (!this.#isOver) this.#note(effect);
      if (this.#isOver) return;
      if (this.#membership === undefined) this.#end(statusCode.invalidArgument, "the request names no node");
      // While no configuration is known there is nothing to wait for.
      else if (this.#undecided.size === 0 || this.#membership.snapshot() === undefined) this.#answer();
    });
  }

  drained(): void {}

  finished(): void {
    if (!this.#isOver && !this.#isAsked) this.#end(statusCode.invalidArgument, "there was no request");
  }

  closed(): void {
    this.#isOver = true;
    this.#membership?.leave();
    this.#ended();
  }

  /** Takes the node, and the names that must be decided before the answer. */
  #note(effect: StreamEffect): void {
    if (effect.kind === "close") this.#end(effect.code, effect.message);
    if (effect.kind === "identified") {
      const admission = this.#context.publication.admit(this.#caller, effect.node);
      if ("code" in admission) {
        this.#end(admission.code, admission.message);
        return;
      }
      this.#resourceErrors = admission.resourceErrors;
      const nameDecided: GroupClient["nameDecided"] = (_type, name, outcome) => this.#nameDecided(name, outcome);
      this.#membership = admission.join({ targetChanged() {}, nameDecided });
    }
    if (effect.kind === "demanded") {
      this.#names = effect.names;
      const answered = this.#membership?.interest?.demand(effect);
      for (const name of answered?.undecided ?? []) this.#undecided.add(name);
      for (const name of answered?.late ?? []) this.#late.add(name);
    }
  }

  #nameDecided(name: ResourceName, outcome: NameDecision): void {
    if (outcome === "late") this.#late.add(name);
    // A found resource is in the snapshot by the end of the turn.
    if (this.#undecided.delete(name) && this.#undecided.size === 0)
      setImmediate(() => this.#guard(() => this.#answer()));
  }

  #answer(): void {
    if (this.#isOver) return;
    const snapshot = this.#membership?.snapshot();
    if (snapshot === undefined) {
      this.#end(statusCode.unavailable, "no configuration is known yet");
      return;
    }
    const only = this.#only;
    // Resources that are not there by now do not exist.
    this.#stream.step({ kind: "absent", type: only, names: this.#names, errors: errorsOfLate(this.#late) });
    const unknown = this.#membership?.stack.unknown();
    this.#stream.step({ kind: "snapshot", snapshot, resourceErrors: this.#resourceErrors, unknown });
    const response = this.#stream.next();
    if (response !== undefined) {
      countResponse(this.#context.counters.type(response.type, "sotw"), response);
      this.#call.send(response.body.bytes, response.tail, response.body);
    } else if (unknown?.has(only.typeUrl)) {
      this.#end(statusCode.unavailable, "it is not known yet what there is of this type");
      return;
    } else this.#call.send(emptyResponse(only, this.#info.method.api, snapshot), new Uint8Array());
    this.#end(statusCode.ok, "");
  }

  #end(code: StatusCode, message: string): void {
    this.#isOver = true;
    this.#membership?.leave();
    if (code !== statusCode.ok) {
      this.#context.counters.refuse(code);
      this.#context.events.emit("stream-refused", () => ({ stream: this.#info, node: undefined, code, message }));
    }
    this.#call.end(code, message);
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#context.events.emit("fault", () => ({ stream: this.#info, error }));
      if (!this.#isOver) this.#end(statusCode.internal, "internal error");
    }
  }
}

/** A response with a version and no resources: none of the requested names exists. */
function emptyResponse(type: ResourceType, api: "v2" | "v3", snapshot: Snapshot): Uint8Array {
  const typeUrl = api === "v2" ? (type.v2TypeUrl ?? type.typeUrl) : type.typeUrl;
  return Buffer.concat([textBytes(1, snapshot.of(type).version), textBytes(4, typeUrl)]);
}
