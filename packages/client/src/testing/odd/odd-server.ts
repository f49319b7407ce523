import {
  createServer,
  constants as http2,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fromBinary, type Message } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";
import { patienceMs, waitFor } from "../wait-for.js";

/** A request of either variant, in one form. */
export interface OddRequest {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly version: string;
  /** SotW: all; delta: those that are subscribed to. */
  readonly names: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly initial: Readonly<Record<string, string>>;
  readonly error: string;
  readonly node: Message | undefined;
}

/** The server's end of one stream. Bytes that are sent on a gone stream are lost silently. */
export interface OddStream {
  /** Counts from 1. */
  readonly number: number;
  /** `/service/method`. */
  readonly path: string;
  readonly variant: SotwOrDelta;
  readonly headers: IncomingHttpHeaders;
  /** All that came. */
  readonly requests: readonly OddRequest[];
  readonly isOpen: boolean;
  /** The next request that was not taken yet. */
  next(): Promise<OddRequest>;
  /** The same for a script that lasts as long as the stream; undefined once that is over. */
  nextIfAny(): Promise<OddRequest | undefined>;
  /** One message. */
  send(bytes: Uint8Array): void;
  /** Bytes as they are, without gRPC's frame around them. */
  write(bytes: Uint8Array): void;
  end(status: number, message?: string): void;
  /** Reads nothing more: the client may send as much as the stream's window holds. */
  pause(): void;
  /** RST_STREAM. */
  reset(code: number): void;
  /** Ends the whole connection. */
  destroy(): void;
  /** Says that this connection takes no more streams; those that are open go on. */
  goAway(): void;
}

/** A server that follows its script, however odd: HTTP/2 and gRPC's frames by hand. */
export interface OddServer {
  readonly address: string;
  /** All streams so far. */
  readonly streams: readonly OddStream[];
  /** The number of open ones. */
  readonly open: number;
  /** The next stream that was not taken yet. */
  nextStream(): Promise<OddStream>;
  close(): Promise<void>;
}

/** `script` is called for each stream, if there is one; `close` throws its rejections. */
export async function createOddServer(script?: (stream: OddStream) => void | Promise<void>): Promise<OddServer> {
  const sessions = new Set<ServerHttp2Session>();
  const streams: OddStream[] = [];
  const failures: unknown[] = [];
  let taken = 0;
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const odd = oddStream(streams.length + 1, stream, headers);
    streams.push(odd);
    Promise.resolve(script?.(odd)).catch((error: unknown) => failures.push(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    get open() {
      return streams.filter(({ isOpen }) => isOpen).length;
    },
    async nextStream() {
      const place = taken++;
      return soon(`stream ${place + 1}`, () => streams[place]);
    },
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      if (failures.length > 0) throw failures[0];
    },
  };
}

function oddStream(number: number, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): OddStream {
  const path = String(headers[":path"]);
  const variant = path.includes("/Delta") ? "delta" : "sotw";
  const requests: OddRequest[] = [];
  let taken = 0;
  let trailers: Record<string, string> = {};
  let rest = Buffer.alloc(0);
  const isOpen = () => !stream.destroyed && !stream.closed && !stream.writableEnded;
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      requests.push(read(variant, rest.subarray(5, end)));
      rest = rest.subarray(end);
    }
  });
  // A client that is done half-closes, and waits for the end.
  stream.on("end", () => end(0));
  const write = (bytes: Uint8Array) => {
    if (isOpen()) stream.write(bytes);
  };
  const end = (status: number, message = "") => {
    if (!isOpen()) return;
    trailers = { "grpc-status": String(status), "grpc-message": encodeURIComponent(message) };
    stream.end();
  };
  return {
    number,
    path,
    variant,
    headers,
    requests,
    write,
    end,
    get isOpen() {
      return isOpen();
    },
    next() {
      const place = taken++;
      return soon(`request ${place + 1} on stream ${number}`, () => requests[place]);
    },
    async nextIfAny() {
      const place = taken++;
      await waitFor(`request ${place + 1} on stream ${number}`, () => requests.length > place || !isOpen());
      return requests[place];
    },
    send(bytes) {
      const frame = Buffer.alloc(5 + bytes.length);
      frame.writeUInt32BE(bytes.length, 1);
      frame.set(bytes, 5);
      write(frame);
    },
    pause: () => stream.pause(),
    reset: (code) => stream.close(code),
    destroy: () => stream.session?.destroy(),
    goAway: () => stream.session?.goaway(http2.NGHTTP2_NO_ERROR),
  };
}

function read(variant: SotwOrDelta, bytes: Uint8Array): OddRequest {
  if (variant === "sotw") {
    const { typeUrl, responseNonce, versionInfo, resourceNames, errorDetail, node } = fromBinary(
      DiscoveryRequestSchema,
      bytes,
    );
    return {
      typeUrl,
      nonce: responseNonce,
      version: versionInfo,
      names: resourceNames,
      unsubscribe: [],
      initial: {},
      error: errorDetail?.message ?? "",
      node,
    };
  }
  const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
  return {
    typeUrl: request.typeUrl,
    nonce: request.responseNonce,
    version: "",
    names: request.resourceNamesSubscribe,
    unsubscribe: request.resourceNamesUnsubscribe,
    initial: request.initialResourceVersions,
    error: request.errorDetail?.message ?? "",
    node: request.node,
  };
}

async function soon<Found>(what: string, find: () => Found | undefined): Promise<Found> {
  for (const end = Date.now() + patienceMs; ; await delay(2)) {
    const found = find();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${patienceMs} ms in vain for: ${what}`);
  }
}
