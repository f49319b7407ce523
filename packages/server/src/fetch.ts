import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ResourceType } from "@xdskit/api";
import { createStream, type Snapshot, type StreamEffect, statusCode } from "@xdskit/protocol";
import { countResponse } from "./counters.js";
import type { StreamInfo } from "./events.js";
import type { SessionContext } from "./session.js";
import type { Connection, ConnectionHandler } from "./transport.js";

/**
 * Fields that, appended to a request, take `version_info` and `response_nonce` back (the last value of a field counts). A unary
 * caller has no stream on which "nothing new" could be silence: it gets what there is, whatever it says that it has.
 */
const asIfItHadNothing = Uint8Array.of((1 << 3) | WireType.LengthDelimited, 0, (5 << 3) | WireType.LengthDelimited, 0);

/**
 * Answers a unary `Fetch…` by the first response of a stream of its own. While no configuration is known at all it fails with
 * UNAVAILABLE, which clients retry, since an empty answer would tell them that there is nothing. Names that do not exist are left out.
 */
export function answerFetch(
  context: SessionContext,
  connection: Connection,
  only: ResourceType,
  id: number,
  /** Called once when nothing is left of the call. */
  ended: () => void,
) {
  const { types, limits, defaultNode, publication, counters, events } = context;
  const { method, peer } = connection;
  const info: StreamInfo = { id, method, peer };
  const stream = createStream({ variant: "sotw", api: method.api, types, only, limits, defaultNode });
  let over = false;

  function end(code: (typeof statusCode)[keyof typeof statusCode], message: string): void {
    over = true;
    if (code !== statusCode.ok) {
      counters.refuse(code);
      events.emit(() => ({ kind: "stream-refused", stream: info, node: undefined, code, message }));
    }
    connection.end(code, message);
  }

  function snapshotFor(effects: readonly StreamEffect[]): Snapshot | undefined {
    const closing = effects.find((effect) => effect.kind === "close");
    if (closing !== undefined) {
      end(closing.code, closing.message);
      return undefined;
    }
    for (const effect of effects) {
      if (effect.kind !== "identified") continue;
      const admission = publication.admit(effect.node);
      if ("code" in admission) {
        end(admission.code, admission.message);
        return undefined;
      }
      const membership = admission.join({ changed: () => {} });
      const snapshot = membership.snapshot();
      membership.leave();
      if (snapshot === undefined) end(statusCode.unavailable, "no configuration is known yet");
      return snapshot;
    }
    end(statusCode.invalidArgument, "the request names no node");
    return undefined;
  }

  function answer(bytes: Uint8Array): void {
    const snapshot = snapshotFor(stream.step({ kind: "request", bytes: concat(bytes, asIfItHadNothing) }));
    if (snapshot === undefined || over) return;
    stream.step({ kind: "snapshot", snapshot });
    const response = stream.next();
    if (response === undefined) {
      connection.send(emptyResponse(only, method.api, snapshot), new Uint8Array());
    } else {
      countResponse(counters.type(response.type, "sotw"), response);
      connection.send(response.body, response.tail);
    }
    end(statusCode.ok, "");
  }

  const handler: ConnectionHandler = {
    received(bytes) {
      if (over) return;
      counters.fetch({ ...method, only }).calls += 1;
      try {
        answer(bytes);
      } catch (error) {
        events.emit(() => ({ kind: "fault", stream: info, error }));
        if (!over) end(statusCode.internal, "internal error");
      }
    },
    drained() {},
    finished() {
      if (!over) end(statusCode.invalidArgument, "there was no request");
    },
    closed() {
      over = true;
      ended();
    },
  };
  return handler;
}

/** A response that has a version and no resources: nothing of what was asked for exists. */
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
