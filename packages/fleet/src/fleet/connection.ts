import { type ClientHttp2Session, type ClientHttp2Stream, constants, connect as http2Connect } from "node:http2";
import { connect as netConnect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { type Connecting, connectWords } from "@xdskit/client/connecting";
import { framed, grpcCode, MessageReader } from "@xdskit/grpc-server/messages";
import { type Address, formatAddress } from "@xdskit/server/address";
import { type GrpcStatus, statusOfHeaders, statusOfReset, unavailable } from "../figures/stream-status.js";

/** Where a connection goes. */
export interface BenchTarget {
  readonly address: Address;
  readonly connecting: Connecting;
  /** The program that the nodes say they are: `name/version`. */
  readonly userAgent: string;
}

/** The events of a connection. */
export interface FleetConnectionListener {
  /** The server speaks HTTP/2: streams may be opened. */
  up(): void;
  /** The connection failed or is lost; its streams have ended before. Not called after `close`. */
  down(status: GrpcStatus): void;
}

/** The events of a stream. None comes after `close`. */
export interface StreamListener {
  /** The message is only valid until the call returns. */
  received(message: Uint8Array): void;
  ended(status: GrpcStatus): void;
}

/** A gRPC stream, with the few functions that a proxy needs. */
export interface GrpcStream {
  /** Returns the number of bytes that it sends. */
  send(message: Uint8Array): number;
  /** Stops or resumes reading. */
  reading(is: boolean): void;
  close(): void;
}

/** HTTP/2's default, for streams that stop reading: the server must feel it. */
export const smallWindow = 65_535;
/** Large enough that a server never waits. */
export const usualWindow = 4 * 1024 * 1024;

const connectMs = 20_000;

/** A larger message is none of discovery. */
const maxMessageBytes = 0x4000_0000;

/** One HTTP/2 connection. */
export interface FleetConnection {
  /** False before it is up, and once it ends: a server's GOAWAY comes a moment before `down`. */
  readonly isOpen: boolean;
  /** Throws an Error before it is up. */
  open(path: string, to: StreamListener): GrpcStream;
  close(): void;
}

/**
 * Connects to a server: `node:http2` and gRPC's framing by hand, since a channel for each node costs several times as
 * much. `windowBytes`: how many bytes of a stream a server may send before they are read.
 */
export function openConnection(
  { address, connecting, userAgent }: BenchTarget,
  listener: FleetConnectionListener,
  windowBytes: number,
): FleetConnection {
  let session: ClientHttp2Session | undefined;
  let closed = false;
  let wasUp = false;
  let headers: Readonly<Record<string, string>> = {};
  let timer: NodeJS.Timeout | undefined;

  const down = (error: Error | undefined) => {
    clearTimeout(timer);
    if (closed) return;
    closed = true;
    session?.destroy();
    const known = error === undefined ? undefined : connecting.explain(error);
    const words = known?.message ?? "the connection was closed";
    listener.down(unavailable(wasUp ? words : connectWords(words)));
  };

  async function start(): Promise<void> {
    const [tls, own] = await Promise.all([connecting.tls(), connecting.headers()]);
    if (closed) return;
    headers = { "user-agent": userAgent, ...own };
    const { host, port } = address;
    const socket: Socket = tls === undefined ? netConnect({ host, port }) : tlsConnect({ ...tls, host, port });
    socket.setNoDelay(true);
    timer = setTimeout(() => down(new Error(`no connection within ${connectMs / 1000} s`)), connectMs);
    const opened = http2Connect(`${tls === undefined ? "http" : "https"}://${formatAddress(address)}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: windowBytes },
    });
    session = opened;
    let lastError: Error | undefined;
    const note = (error: Error) => {
      lastError ??= error;
    };
    opened.on("error", note);
    // A server that refuses a certificate says so after the handshake: the session does not hear it, and the socket
    // stays open.
    socket.on("error", (error: Error) => {
      note(error);
      setImmediate(() => {
        down(lastError);
        socket.destroy();
      });
    });
    opened.once("connect", () => {
      // A server that refuses a certificate may have ended it by now.
      if (!opened.destroyed) opened.setLocalWindowSize(connectionWindow);
    });
    opened.once("remoteSettings", () => {
      clearTimeout(timer);
      wasUp = true;
      if (!closed) listener.up();
    });
    opened.once("close", () => down(lastError));
  }
  start().catch(down);

  return {
    get isOpen() {
      return session !== undefined && !session.closed && !session.destroyed;
    },
    open(path, to) {
      if (session === undefined) throw new Error("there is no connection yet");
      return openStream(session, { path, headers }, to);
    },
    close() {
      clearTimeout(timer);
      closed = true;
      session?.destroy();
    },
  };
}

/** For all streams of a connection together: they stop reading one by one. */
const connectionWindow = 64 * 1024 * 1024;

interface FleetCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function openStream(session: ClientHttp2Session, { path, headers }: FleetCall, listener: StreamListener): GrpcStream {
  const stream: ClientHttp2Stream = session.request(
    {
      ":method": "POST",
      ":path": path,
      te: "trailers",
      "content-type": "application/grpc",
      ...headers,
    },
    { endStream: false },
  );
  let ended = false;
  let status: GrpcStatus | undefined;
  const end = (how: GrpcStatus) => {
    if (ended) return;
    ended = true;
    reader.close();
    listener.ended(how);
  };
  const reader = new MessageReader(
    {
      message(bytes) {
        if (!ended) listener.received(bytes);
      },
      // What ends a stream is its status.
      lastMessage() {},
      failed(_code, message) {
        end({ code: grpcCode.internal, message });
        stream.close(constants.NGHTTP2_CANCEL);
      },
    },
    { maxBytes: maxMessageBytes, noun: "response" },
  );
  stream.on("response", (given) => {
    status = statusOfHeaders(given);
  });
  stream.on("trailers", (given) => {
    status = statusOfHeaders(given) ?? status;
  });
  stream.on("data", (chunk: Buffer) => reader.receive(chunk));
  let lastError: Error | undefined;
  stream.on("error", (error: Error) => {
    lastError = error;
  });
  stream.once("end", () => {
    // The server is done, so the client is too.
    if (status !== undefined && !stream.writableEnded) stream.end();
  });
  stream.once("close", () => {
    // Streams of a lost connection look cancelled.
    const without = () =>
      session.destroyed
        ? unavailable(lastError?.message || "the connection was closed")
        : statusOfReset(stream.rstCode, lastError);
    end(status ?? without());
  });
  return {
    send(message) {
      const bytes = framed(message);
      if (!ended && !stream.destroyed) stream.write(bytes);
      return bytes.length;
    },
    reading(is) {
      if (is) stream.resume();
      else stream.pause();
    },
    close() {
      ended = true;
      reader.close();
      if (!stream.destroyed) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}
