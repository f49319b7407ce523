import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ResourceName, ResourceType } from "@xdskit/api";
import { createStream, type ResourceErrorPolicy, type Snapshot, type StreamEffect, statusCode } from "@xdskit/protocol";
import type { StreamInfo } from "../contracts/stream-info.js";
import type { CallHandler, DiscoveryCall } from "../contracts/transport.js";
import { errorsOfLate } from "../on-demand/late-names.js";
import type { Outcome } from "../on-demand/wanted.js";
import { countResponse } from "./counters.js";
import type { Membership } from "./publication.js";
import type { SessionContext } from "./session-context.js";

/**
 * Appended to a request, these fields clear `version_info` and `response_nonce` (the last value of a field counts). A
 * unary caller has no stream on which "nothing new" could be silence: it always gets the current state.
 */
const asIfItHadNothing = Uint8Array.of((1 << 3) | WireType.LengthDelimited, 0, (5 << 3) | WireType.LengthDelimited, 0);

/**
 * Answers a unary `Fetch…` with the first response of a stream of its own. While no configuration is known it fails
 * with UNAVAILABLE, which clients retry; an empty answer would tell them that there is nothing. Names that do not
 * exist are left out.
 */
export function answerFetch(
  context: Omit<SessionContext<never>, "queue" | "ended">,
  connection: DiscoveryCall,
  only: ResourceType,
  id: number,
  /** Called once when nothing is left of the call. */
  ended: () => void,
) {
  const { types, limits, defaultNode, onDemand, naming, publication, counters, events } = context;
  const { method, peer } = connection;
  const info: StreamInfo = { id, method, peer };
  const stream = createStream({
    variant: "sotw",
    api: method.api,
    types,
    only,
    limits,
    defaultNode,
    onDemand,
    ...naming,
  });
  let over = false;
  let asked = false;
  let membership: Membership | undefined;
  let resourceErrors: ResourceErrorPolicy | undefined;
  let names: Iterable<ResourceName> = [];
  /** Names that may yet be supplied: without them the answer would say that they do not exist. */
  const undecided = new Set<ResourceName>();
  const late = new Set<ResourceName>();

  function end(code: (typeof statusCode)[keyof typeof statusCode], message: string): void {
    over = true;
    membership?.leave();
    if (code !== statusCode.ok) {
      counters.refuse(code);
      events.emit(() => ({ kind: "stream-refused", stream: info, node: undefined, code, message }));
    }
    connection.end(code, message);
  }

  /** Finds the node, and the names to decide before the answer. False if the call has ended. */
  function prepare(effects: readonly StreamEffect[]): boolean {
    for (const effect of effects) {
      if (effect.kind === "close") {
        end(effect.code, effect.message);
        return false;
      }
      if (effect.kind === "identified") {
        const admission = publication.admit(effect.node);
        if ("code" in admission) {
          end(admission.code, admission.message);
          return false;
        }
        resourceErrors = admission.resourceErrors;
        membership = admission.join({ changed: () => {}, settled });
      }
      if (effect.kind === "demanded") {
        names = effect.names;
        const answered = membership?.interest?.demand(effect);
        for (const name of answered?.undecided ?? []) undecided.add(name);
        for (const name of answered?.late ?? []) late.add(name);
      }
    }
    if (membership !== undefined) return true;
    end(statusCode.invalidArgument, "the request names no node");
    return false;
  }

  function settled(_type: ResourceType, name: ResourceName, outcome: Outcome): void {
    if (outcome === "late") late.add(name);
    if (!undecided.delete(name) || undecided.size > 0) return;
    // A found resource is in the snapshot by the end of the turn.
    setImmediate(() => guard(answer));
  }

  function answer(): void {
    if (over) return;
    const snapshot = membership?.snapshot();
    if (snapshot === undefined) {
      end(statusCode.unavailable, "no configuration is known yet");
      return;
    }
    // All that is not there by now does not exist.
    stream.step({ kind: "absent", type: only, names, errors: errorsOfLate(late) });
    const unknown = membership?.unknown();
    stream.step({ kind: "snapshot", snapshot, resourceErrors, unknown });
    const response = stream.next();
    if (response === undefined && unknown?.has(only.typeUrl)) {
      end(statusCode.unavailable, "it is not known yet what there is of this type");
      return;
    }
    if (response === undefined) {
      connection.send(emptyResponse(only, method.api, snapshot), new Uint8Array());
    } else {
      countResponse(counters.type(response.type, "sotw"), response);
      connection.send(response.body.bytes, response.tail, response.body);
    }
    end(statusCode.ok, "");
  }

  function guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      events.emit(() => ({ kind: "fault", stream: info, error }));
      if (!over) end(statusCode.internal, "internal error");
    }
  }

  const handler: CallHandler = {
    received(bytes) {
      if (over || asked) return;
      asked = true;
      counters.fetch({ ...method, only }).calls += 1;
      guard(() => {
        const effects = stream.step({ kind: "request", bytes: concat(bytes, asIfItHadNothing) });
        // While nothing is known there is nothing to wait for.
        if (prepare(effects) && (undecided.size === 0 || membership?.snapshot() === undefined)) answer();
      });
    },
    drained() {},
    finished() {
      if (!over && !asked) end(statusCode.invalidArgument, "there was no request");
    },
    closed() {
      over = true;
      membership?.leave();
      ended();
    },
  };
  return handler;
}

/** A response with a version and no resources: none of the requested names exists. */
function emptyResponse(type: ResourceType, api: "v2" | "v3", snapshot: Snapshot): Uint8Array {
  const typeUrl = api === "v2" ? (type.v2TypeUrl ?? type.typeUrl) : type.typeUrl;
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(snapshot.of(type).version);
  writer.tag(4, WireType.LengthDelimited).string(typeUrl);
  return writer.finish();
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.byteLength + b.byteLength);
  joined.set(a);
  joined.set(b, a.byteLength);
  return joined;
}
