import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed } from "../verdicts/verdicts.js";
import { bytesService } from "../wire/bytes-service.js";
import type { ProtocolVariant } from "../wire/messages.js";
import { PeerArrivals } from "../wire/peer-arrivals.js";
import type { Transcript } from "../wire/transcript.js";
import { CheckedStream, type ClientCall } from "./checked-stream.js";
import { freePort } from "./free-port.js";

const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService";

/** A server that clients are told of. It says only what a check says. */
export class ClientServer {
  readonly #transcript: Transcript;
  readonly #bounds: Bounds;
  /** Before each line of the transcript. */
  readonly #label: string;
  #server: Server | undefined;
  #port = 0;
  readonly #streams: CheckedStream[] = [];
  readonly #arrivals = new PeerArrivals();
  /** How many streams clients have opened. */
  opened = 0;

  constructor(transcript: Transcript, bounds: Bounds, label = "") {
    this.#transcript = transcript;
    this.#bounds = bounds;
    this.#label = label;
  }

  /** Its `HOST:PORT`, once it has listened, or has a place. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Gets an address without listening there: it is away. */
  async reserve(): Promise<void> {
    this.#port = await freePort();
  }

  /** Listens at its address, or at any. */
  async listen(): Promise<void> {
    const server = new Server({ "grpc.max_receive_message_length": -1 });
    const methods = { sotw: `${ads}/StreamAggregatedResources`, delta: `${ads}/DeltaAggregatedResources` } as const;
    for (const variant of ["sotw", "delta"] as const) {
      server.addService(bytesService(methods[variant]), { method: (call: ClientCall) => this.#open(variant, call) });
    }
    this.#port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, port: number) => (error === null ? resolve(port) : reject(error));
      server.bindAsync(this.address, ServerCredentials.createInsecure(), bound);
    });
    this.#server = server;
  }

  #open(variant: ProtocolVariant, call: ClientCall): void {
    this.opened++;
    this.#streams.push(new CheckedStream(variant, call, this.#transcript, this.#bounds, this.#label));
    this.#arrivals.arrived();
  }

  /** The next stream that a client opens; a client that was just started has longer. Throws Failed if it opens none. */
  async stream(withinMs = (this.opened === 0 ? 4 : 2) * this.#bounds.answerMs): Promise<CheckedStream> {
    const stream = await this.#arrivals.until(() => this.#streams.shift(), withinMs);
    if (stream === undefined) throw new Failed(`the client opened no stream within ${withinMs} ms`);
    return stream;
  }

  stop(): void {
    this.#server?.forceShutdown();
  }
}
