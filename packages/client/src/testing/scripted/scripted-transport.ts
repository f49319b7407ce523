import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { DiscoveryMethod } from "../../upstreams/grpc/methods.js";
import type { StreamHandler, StreamTransport } from "../../upstreams/grpc/stream-transport.js";

/** A stream in a test's hands. */
export interface ScriptedStream extends StreamHandler {
  readonly method: DiscoveryMethod;
  /** The time at which it was opened. */
  readonly at: number;
  /** The client's requests: `+a -b`, `ack 1`, `nack 1: why`; SotW: all names, and `ack 1`. */
  readonly log: string[];
  /** Responses that the client asked for and did not get yet. */
  readonly wanted: number;
  readonly isOver: boolean;
  /** From now on the server reads nothing: there is no room for another request. */
  stall(): void;
  /** The bytes of a delta response with clusters of these names. */
  respond(nonce: string, ...names: readonly string[]): void;
}

/** A transport whose streams a test opens, answers and ends. */
export interface ScriptedTransport extends StreamTransport {
  readonly streams: readonly ScriptedStream[];
  readonly last: ScriptedStream;
  /** The largest number of streams at one time. */
  readonly maxAtOnce: number;
  readonly isClosed: boolean;
}

export function scriptedTransport(now: () => number): ScriptedTransport {
  const streams: ScriptedStream[] = [];
  let maxAtOnce = 0;
  let isClosed = false;
  return {
    streams,
    get last() {
      const last = streams.at(-1);
      if (last === undefined) throw new Error("there is no stream");
      return last;
    },
    get maxAtOnce() {
      return maxAtOnce;
    },
    get isClosed() {
      return isClosed;
    },
    open(method, handler) {
      const log: string[] = [];
      let wanted = 0;
      let isOver = false;
      let isStalled = false;
      const received = (bytes: Uint8Array) => {
        wanted -= 1;
        handler.received(bytes);
      };
      const ended = (code: number, message: string) => {
        if (isOver) return;
        isOver = true;
        handler.ended(code, message);
      };
      streams.push({
        method,
        log,
        received,
        ended,
        at: now(),
        opened: () => handler.opened(),
        stall() {
          isStalled = true;
        },
        respond: (nonce, ...names) => received(deltaResponse(nonce, names)),
        get wanted() {
          return wanted;
        },
        get isOver() {
          return isOver;
        },
      });
      maxAtOnce = Math.max(maxAtOnce, streams.filter((stream) => !stream.isOver).length);
      return {
        send(bytes, sent) {
          log.push(method.variant === "delta" ? describeRequest(bytes) : describeSotwRequest(bytes));
          if (!isStalled) queueMicrotask(sent);
        },
        read() {
          wanted += 1;
        },
        finish: () => void log.push("finish"),
        cancel(code, message) {
          log.push("cancel");
          queueMicrotask(() => ended(code, message));
        },
      };
    },
    close() {
      isClosed = true;
    },
  };
}

function deltaResponse(nonce: string, names: readonly string[]): Uint8Array {
  const resources = names.map((name) => {
    const [own = name, content = ""] = name.split("=");
    const message: Message = create(ClusterSchema, { name: own, altStatName: content });
    return { name: own, version: content, resource: anyPack(ClusterSchema, message as never) };
  });
  const typeUrl = `type.googleapis.com/${ClusterSchema.typeName}`;
  return toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, { nonce, resources, typeUrl }));
}

function describeSotwRequest(bytes: Uint8Array): string {
  const { resourceNames, responseNonce, errorDetail } = fromBinary(DiscoveryRequestSchema, bytes);
  const answer = errorDetail === undefined ? "ack" : `nack ${errorDetail.message}`;
  return [...resourceNames, ...(responseNonce === "" ? [] : [answer, responseNonce])].join(" ");
}

function describeRequest(bytes: Uint8Array): string {
  const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
  const words = [
    ...request.resourceNamesSubscribe.map((name) => `+${name}`),
    ...request.resourceNamesUnsubscribe.map((name) => `-${name}`),
    ...Object.entries(request.initialResourceVersions).map(([name, version]) => `${name}@${version}`),
  ];
  if (request.errorDetail !== undefined) words.push(`nack ${request.responseNonce}: ${request.errorDetail.message}`);
  else if (request.responseNonce !== "") words.push(`ack ${request.responseNonce}`);
  return words.join(" ");
}
