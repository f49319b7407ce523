import { type ClientHttp2Session, type ClientHttp2Stream, constants, connect as http2Connect } from "node:http2";
import { connect as netConnect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { type Connecting, connectWords } from "@xdskit/client/connecting";
import { type Address, formatAddress } from "@xdskit/server/address";
import { version } from "../version.js";
import { framed, MessageReader } from "./message-reader.js";
import { type GrpcStatus, grpcCode, statusOfHeaders, statusOfReset, unavailable } from "./stream-status.js";

/** Where a connection goes. */
export interface Target {
  readonly address: Address;
  readonly connecting: Connecting;
}

/** Whom a connection tells. */
export interface ConnectionListener {
  /** The server speaks HTTP/2: streams may be opened. */
  up(): void;
  /** It could not be made, or is gone; streams have ended before. Not called after `close`. */
  down(status: GrpcStatus): void;
}

/** Whom a stream tells. Nothing of it is called after `close`. */
export interface StreamListener {
  received(message: Uint8Array): void;
  ended(status: GrpcStatus): void;
}

/** A gRPC stream, as little of it as a proxy needs. */
export interface GrpcStream {
  /** Returns the bytes that it takes. */
  send(message: Uint8Array): number;
  /** Stops reading, or goes on. */
  reading(is: boolean): void;
  close(): void;
}

/** One HTTP/2 connection. */
export interface Connection {
  open(path: string, listener: StreamListener): GrpcStream;
  close(): void;
}

/** How a connection reads. */
export interface ConnectionOptions {
  /** The bytes of a stream that a server may send before they are read. */
  readonly windowBytes: number;
}

/** HTTP/2's own, for streams that stop reading: a server is to feel it. */
export const smallWindow = 65_535;
/** Nobody waits for room here: what a server sends at once comes at once. */
export const usualWindow = 4 * 1024 * 1024;

const connectMs = 20_000;

/** Connects to a server: `node:http2` and gRPC's framing by hand, since a channel for each node costs several times as much. */
export function openConnection(
  { address, connecting }: Target,
  listener: ConnectionListener,
  { windowBytes }: ConnectionOptions,
): Connection {
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
    headers = own;
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
    // A server that refuses a certificate says so after the handshake: the session hears nothing of it, and the socket stays.
    socket.on("error", (error: Error) => {
      note(error);
      setImmediate(() => {
        down(lastError);
        socket.destroy();
      });
    });
    opened.once("connect", () => opened.setLocalWindowSize(connectionWindow));
    opened.once("remoteSettings", () => {
      clearTimeout(timer);
      wasUp = true;
      if (!closed) listener.up();
    });
    opened.once("close", () => down(lastError));
  }
  start().catch(down);

  return {
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

/** For all streams of a connection together: they are held up one by one. */
const connectionWindow = 64 * 1024 * 1024;

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function openStream(session: ClientHttp2Session, { path, headers }: Call, listener: StreamListener): GrpcStream {
  const stream: ClientHttp2Stream = session.request(
    {
      ":method": "POST",
      ":path": path,
      te: "trailers",
      "content-type": "application/grpc",
      "user-agent": `xdskit-bench/${version}`,
      ...headers,
    },
    { endStream: false },
  );
  const reader = new MessageReader();
  let ended = false;
  let status: GrpcStatus | undefined;
  const end = (how: GrpcStatus) => {
    if (ended) return;
    ended = true;
    listener.ended(how);
  };
  stream.on("response", (given) => {
    status = statusOfHeaders(given);
  });
  stream.on("trailers", (given) => {
    status = statusOfHeaders(given) ?? status;
  });
  stream.on("data", (chunk: Buffer) => {
    if (ended) return;
    try {
      reader.read(chunk, (message) => {
        if (!ended) listener.received(message);
      });
    } catch (error) {
      end({ code: grpcCode.internal, message: error instanceof Error ? error.message : String(error) });
      stream.close(constants.NGHTTP2_CANCEL);
    }
  });
  let lastError: Error | undefined;
  stream.on("error", (error: Error) => {
    lastError = error;
  });
  stream.once("end", () => {
    // The server is done: so is the client.
    if (status !== undefined && !stream.writableEnded) stream.end();
  });
  stream.once("close", () => {
    // Streams of a connection that is gone look as if they had been cancelled.
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
      if (!stream.destroyed) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}
