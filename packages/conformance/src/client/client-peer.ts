import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed } from "../verdicts/verdicts.js";
import { Arrivals } from "../wire/arrivals.js";
import type { Variant } from "../wire/messages.js";
import { Transcript } from "../wire/transcript.js";
import { type ClientCall, ClientStream } from "./client-stream.js";

/** Starts a client that asks the server at an address. Returns what ends it. */
export type StartClient = (address: string) => () => void;

const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const whole = (message: Uint8Array): Buffer => Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/** A client, as one check sees it: started anew, with a server of its own. */
export class ClientPeer {
  readonly transcript = new Transcript();
  readonly bounds: Bounds;
  readonly #server = new Server({ "grpc.max_receive_message_length": -1 });
  readonly #streams: ClientStream[] = [];
  readonly #start: StartClient;
  #stop: () => void = () => {};
  readonly #arrivals = new Arrivals();
  /** How many streams the client has opened. */
  opened = 0;

  constructor(start: StartClient, bounds: Bounds) {
    this.#start = start;
    this.bounds = bounds;
    const methods = { sotw: `${ads}/StreamAggregatedResources`, delta: `${ads}/DeltaAggregatedResources` } as const;
    for (const variant of ["sotw", "delta"] as const) {
      const bytes = { requestSerialize: whole, requestDeserialize: whole };
      const both = { ...bytes, responseSerialize: whole, responseDeserialize: whole };
      const method = { path: methods[variant], requestStream: true, responseStream: true, ...both };
      this.#server.addService({ method }, { method: (call: ClientCall) => this.#open(variant, call) });
    }
  }

  #open(variant: Variant, call: ClientCall): void {
    this.opened++;
    this.#streams.push(new ClientStream(variant, call, this.transcript, this.bounds));
    this.#arrivals.arrived();
  }

  /** Starts the client. */
  async start(): Promise<void> {
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, port: number) => (error === null ? resolve(port) : reject(error));
      this.#server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
    });
    this.#stop = this.#start(`127.0.0.1:${port}`);
  }

  /** The next stream that the client opens. Throws Failed if it opens none. */
  async stream(withinMs = 2 * this.bounds.answerMs): Promise<ClientStream> {
    const stream = await this.#arrivals.until(() => this.#streams.shift(), withinMs);
    if (stream === undefined) throw new Failed(`the client opened no stream within ${withinMs} ms`);
    return stream;
  }

  close(): void {
    this.#stop();
    this.#server.forceShutdown();
  }
}
