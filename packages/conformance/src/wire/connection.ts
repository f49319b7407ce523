import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  InterceptingCall,
  type Interceptor,
  Metadata,
} from "@grpc/grpc-js";
import { type Bounds, pause } from "../verdicts/bounds.js";
import { wholeBytes } from "./bytes-service.js";
import type { PeerArrivals } from "./peer-arrivals.js";

/** Where the server is, and how to reach it. */
export interface Target {
  /** `HOST:PORT`. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  /** The name that the server's certificate must have, if it is not the host of the address. */
  readonly serverName?: string | undefined;
  /** Headers of each call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A call that goes both ways, as bytes. */
export type BidiCall = ClientDuplexStream<Uint8Array, Uint8Array>;

const nothing = new Uint8Array();
/** So much of a call comes without being read. */
const stalledWindow = 16_384;
/** No server has it. Each says so. */
const noMethod = "/xds.conformance.Barrier/Pass";

/** A connection of its own: what one check does to it is nothing to another. */
export class Connection {
  readonly #client: Client;
  readonly #metadata = new Metadata();
  readonly #bounds: Bounds;
  #readOn: () => void = () => {};
  readonly #interceptors: Interceptor[] = [];

  /** `stalls`: of what the server sends on a call, little more than the first message is read before `readOn`. */
  constructor({ address, credentials, serverName, headers }: Target, bounds: Bounds, stalls = false) {
    this.#bounds = bounds;
    if (stalls) {
      // gRPC asks for the next message once this one has been taken.
      const mayRead = new Promise<void>((resolve) => {
        this.#readOn = resolve;
      });
      this.#interceptors.push(
        (options, next) =>
          new InterceptingCall(next(options), {
            start: (metadata, _, begin) =>
              begin(metadata, { onReceiveMessage: (message, take) => void mayRead.then(() => take(message)) }),
          }),
      );
    }
    for (const [name, value] of Object.entries(headers)) this.#metadata.set(name, value);
    this.#client = new Client(address, credentials, {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.enable_retries": 0,
      "grpc.max_receive_message_length": 256 << 20,
      "grpc.max_send_message_length": -1,
      "grpc.service_config_disable_resolution": 1,
      ...(serverName === undefined ? {} : { "grpc.ssl_target_name_override": serverName }),
      ...(stalls ? { "grpc-node.flow_control_window": stalledWindow } : {}),
    });
  }

  call(path: string): BidiCall {
    const interceptors = this.#interceptors;
    return this.#client.makeBidiStreamRequest(path, wholeBytes, (message) => message, this.#metadata, { interceptors });
  }

  /** Reads what came, and all that comes. */
  readOn(): void {
    this.#readOn();
  }

  /** The server reads what was sent, has the quiet time for an answer, and the answer arrives. */
  async quiet(): Promise<void> {
    await this.barrier();
    await pause(this.#bounds.quietMs);
    await this.barrier();
  }

  /**
   * What `look` gives, as soon as it does; undefined after the time for an answer. The time is not over before the
   * server answers something else: on a busy machine it may not have had it yet, or we may not have read what it sent.
   */
  async awaited<T>(arrivals: PeerArrivals, look: () => T | undefined): Promise<T | undefined> {
    const found = await arrivals.until(look, this.#bounds.answerMs);
    if (found !== undefined) return found;
    await this.barrier();
    return look();
  }

  /**
   * Resolves once the server has answered a call that it does not know: what was written before has arrived there, and
   * what the server wrote before has arrived here, however busy this machine is.
   */
  barrier(): Promise<void> {
    return new Promise((resolve) => {
      const deadline = Date.now() + this.#bounds.answerMs;
      const answered = () => resolve();
      this.#client.makeUnaryRequest(noMethod, wholeBytes, wholeBytes, nothing, this.#metadata, { deadline }, answered);
    });
  }

  close(): void {
    this.#client.close();
  }
}
