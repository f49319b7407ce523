import {
  Channel,
  type ChannelInterface,
  type ChannelOptions,
  connectivityState,
  type Metadata,
  status,
} from "@grpc/grpc-js";
import { messageOf, redactErrorText } from "@xdskit/api";
import { version } from "@xdskit/api/disk";
import type { GrpcCredentials } from "../../credentials/grpc-credentials.js";
import { connectWords } from "../../errors/connect-words.js";
import { type DiscoveryMethod, pathOf } from "./methods.js";
import type { StreamHandler, StreamTransport, UpstreamStream } from "./stream-transport.js";

/** The time that one attempt to connect may take, as in gRPC. */
const connectMs = 20_000;

export interface GrpcUpstreamOptions {
  /** A target of gRPC. */
  readonly address: string;
  readonly credentials: GrpcCredentials;
  /** The largest response. */
  readonly responseBytes: number;
}

/**
 * One channel to a server. Each attempt makes a new channel if the last one is not connected. So the client decides on
 * the wait between attempts, and certificates and names are read again. Bytes in, bytes out.
 */
export function createGrpcTransport({ address, credentials, responseBytes }: GrpcUpstreamOptions): StreamTransport {
  const options: ChannelOptions = {
    "grpc.max_receive_message_length": responseBytes,
    "grpc.max_send_message_length": -1,
    "grpc.primary_user_agent": `xdskit/${version}`,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.service_config_disable_resolution": 1,
    // A Go server ends the connection (too_many_pings) for pings more often than its default allows.
    "grpc.keepalive_time_ms": 300_000,
    "grpc.keepalive_timeout_ms": 20_000,
  };
  let channel: ChannelInterface | undefined;
  /** The current attempt to connect, for all streams that wait for it. */
  let trying: Promise<ChannelInterface> | undefined;
  let closed = false;

  function connect(): Promise<ChannelInterface> {
    if (trying !== undefined) return trying;
    if (channel !== undefined && channel.getConnectivityState(false) === connectivityState.READY) {
      return Promise.resolve(channel);
    }
    // Its open streams continue until they end.
    channel?.close();
    const made = new Channel(address, credentials.channel, options);
    channel = made;
    trying = tried(made).finally(() => {
      trying = undefined;
    });
    return trying;
  }

  return {
    open(method, handler) {
      return openStream({ method, handler, metadata: credentials.metadata, connect });
    },
    close() {
      if (closed) return;
      closed = true;
      channel?.close();
    },
  };
}

/** Resolves once a channel is connected, or failed to. */
function tried(channel: ChannelInterface): Promise<ChannelInterface> {
  const end = Date.now() + connectMs;
  return new Promise((resolve, reject) => {
    const look = (late?: Error) => {
      const now = channel.getConnectivityState(true);
      if (late !== undefined) reject(new Error(`no connection within ${connectMs} ms`));
      else if (now === connectivityState.IDLE || now === connectivityState.CONNECTING) {
        channel.watchConnectivityState(now, end, look);
      } else resolve(channel);
    };
    look();
  });
}

/** The message of a status, without the library's words around the system's, and without possible secrets. */
function plain(details: string): string {
  const words = details
    .replace(/^No connection established\. Last error: (?:\w*Error: )?/, "")
    .replace(/\.? Resolution note: *$/, "")
    // With a time in the text, the same error would be reported again after each attempt.
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/, "");
  return redactErrorText(connectWords(words));
}

interface Opening {
  readonly method: DiscoveryMethod;
  readonly handler: StreamHandler;
  metadata(): Promise<Metadata>;
  connect(): Promise<ChannelInterface>;
}

function openStream({ method, handler, metadata, connect }: Opening): UpstreamStream {
  let call: ReturnType<ChannelInterface["createCall"]> | undefined;
  let ended = false;
  /** Before there was a call. */
  let cancelled = false;
  const end = (code: number, message: string) => {
    if (ended) return;
    ended = true;
    handler.ended(code, message);
  };

  async function start(): Promise<void> {
    const path = pathOf(method);
    if (path === undefined) return end(status.UNIMPLEMENTED, "there is no such method");
    const headers = await metadata();
    if (cancelled) return;
    const channel = await connect();
    // Another stream may have come up in this very turn: nothing would end this call.
    if (cancelled) return;
    const isUp = channel.getConnectivityState(false) === connectivityState.READY;
    // For a channel that is not connected, the call's status says why.
    call = channel.createCall(path, isUp ? Number.POSITIVE_INFINITY : Date.now() + connectMs, null, null, null);
    call.start(headers, {
      onReceiveMetadata() {},
      onReceiveMessage(message: Uint8Array) {
        if (!ended) handler.received(message);
      },
      // A frame that falsely claims to be compressed ends the call without both.
      onReceiveStatus: ({ code = status.UNKNOWN, details = "the response cannot be read" }) =>
        end(code, plain(details)),
    });
    if (isUp && !ended) handler.opened();
  }

  start().catch((error: unknown) => {
    // There was no attempt: credentials that cannot be read, or no answer from the network.
    end(status.UNAVAILABLE, messageOf(error));
  });
  return {
    send(bytes, sent) {
      const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      call?.sendMessageWithContext({ callback: () => sent() }, message);
    },
    read: () => call?.startRead(),
    finish: () => call?.halfClose(),
    cancel(code, message) {
      if (call !== undefined) return call.cancelWithStatus(code, message);
      cancelled = true;
      queueMicrotask(() => end(code, message));
    },
  };
}
