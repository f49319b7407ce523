import { credentials } from "@grpc/grpc-js";
import type { ClientConfig } from "@xdskit/api/envoy/service/status/v3/csds";
import { type Bounds, pause } from "../verdicts/bounds.js";
import { Failed, Skipped } from "../verdicts/verdicts.js";
import { fetchingStatus } from "../wire/client-status.js";
import { Connection } from "../wire/connection.js";
import { MessageStream } from "../wire/message-stream.js";
import { Transcript } from "../wire/transcript.js";
import type { CheckedStream } from "./checked-stream.js";
import { ClientServer } from "./client-server.js";
import { freePort } from "./free-port.js";

/** What a client is told: addresses. */
export interface ClientPlace {
  /** The server, and those that the client may use instead, in this order. */
  readonly servers: readonly string[];
  /** Where it may serve its status (CSDS). */
  readonly status: string;
}

/** Starts a client. Returns what ends it. */
export type StartClient = (place: ClientPlace) => () => void;

/** So often a client that serves its status is asked until it does. */
const [mostTries, triesMs] = [30, 100];

const targetAt = (address: string) => ({ address, credentials: credentials.createInsecure(), headers: {} });

/** A client, as one check sees it: started anew, with servers of its own. */
export class ClientPeer {
  readonly transcript = new Transcript();
  readonly bounds: Bounds;
  readonly #first: ClientServer;
  /** The one that the client may use when the first one is away; only some checks tell it so. */
  readonly second: ClientServer;
  readonly #start: StartClient;
  #stop: () => void = () => {};
  #status: Connection | undefined;

  constructor(start: StartClient, bounds: Bounds) {
    this.#start = start;
    this.bounds = bounds;
    this.#first = new ClientServer(this.transcript, bounds);
    this.second = new ClientServer(this.transcript, bounds, "b");
  }

  /** Starts the client, with one server, or with one that is away and a second one. */
  async start(firstIs: "there" | "away" = "there"): Promise<void> {
    if (firstIs === "there") await this.#first.listen();
    else {
      this.transcript.add("# the first server is away");
      await this.#first.reserve();
      await this.second.listen();
    }
    const status = `127.0.0.1:${await freePort()}`;
    this.#status = new Connection(targetAt(status), this.bounds);
    const servers = [this.#first.address, ...(firstIs === "away" ? [this.second.address] : [])];
    this.#stop = this.#start({ servers, status });
  }

  /** The first server is there again. */
  async restore(): Promise<void> {
    this.transcript.add("# the first server is back");
    await this.#first.listen();
  }

  /** How many streams the client has opened to the first server. */
  get opened(): number {
    return this.#first.opened;
  }

  /** Calls the first server once on a new connection: on this machine, now, a client needs this long for an attempt. */
  async attempt(): Promise<void> {
    const connection = new Connection(targetAt(this.#first.address), this.bounds);
    await connection.barrier();
    connection.close();
  }

  /** The next stream that the client opens. Throws Failed if it opens none. */
  stream(withinMs?: number): Promise<CheckedStream> {
    return this.#first.stream(withinMs);
  }

  /** What the client says of itself. Throws Skipped if it does not serve that. */
  async status(): Promise<readonly ClientConfig[]> {
    for (let left = mostTries; ; left--) {
      const call = new MessageStream(fetchingStatus, {
        connection: this.#status!,
        transcript: this.transcript,
        label: "s",
        bounds: this.bounds,
      });
      call.send({});
      call.finish();
      try {
        return (await call.next()).config;
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        if (left === 0) throw new Skipped("the client does not serve its status at XDS_CONFORMANCE_CSDS");
        await pause(triesMs);
      } finally {
        call.cancel();
      }
    }
  }

  close(): void {
    this.#stop();
    this.#status?.close();
    for (const server of [this.#first, this.second]) server.stop();
  }
}
