import { resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import { drivenContent, type World, worldWords } from "../driver/driven-content.js";
import type { Driver } from "../driver/driver.js";
import type { Bounds } from "../verdicts/bounds.js";
import { Skipped } from "../verdicts/verdicts.js";
import { Connection, type Target } from "../wire/connection.js";
import type { Variant } from "../wire/messages.js";
import { Transcript } from "../wire/transcript.js";
import { XdsStream } from "../wire/xds-stream.js";
import type { Content } from "./content.js";

/** What is the same for all checks of a run. */
export interface PeerOptions {
  readonly target: Target;
  readonly node: Node;
  readonly bounds: Bounds;
  readonly content: Content;
  /** The variants of which the server has the aggregated service. */
  readonly offered: ReadonlySet<Variant>;
  /** Undefined: nobody changes what the server serves. */
  readonly driver: Driver | undefined;
  /** Chooses what checks choose at random. */
  readonly seed: number;
}

const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const aggregated: Readonly<Record<Variant, string>> = {
  sotw: `/${ads}/StreamAggregatedResources`,
  delta: `/${ads}/DeltaAggregatedResources`,
};

/** The server, as one check sees it: with a connection and a transcript of its own. */
export class Peer {
  readonly content: Content;
  readonly bounds: Bounds;
  readonly transcript = new Transcript();
  readonly #options: PeerOptions;
  #connection: Connection;
  readonly #streams: XdsStream[] = [];

  constructor(options: PeerOptions) {
    this.#options = options;
    this.content = options.content;
    this.bounds = options.bounds;
    this.#connection = new Connection(options.target, options.bounds);
  }

  /** What changes the content. Throws Skipped if there is nothing. */
  get driver(): Driver {
    const { driver } = this.#options;
    if (driver === undefined) throw new Skipped("needs a driver: --driver or --driver-url");
    return driver;
  }

  /** Has the server serve exactly this. Throws Skipped without a driver, Failed if the driver cannot. */
  async set(world: World): Promise<void> {
    this.transcript.add(`set ${worldWords(world)}`);
    await this.driver.set(drivenContent(world));
  }

  get seed(): number {
    return this.#options.seed;
  }

  get node(): Node {
    return this.#options.node;
  }

  /** What was sent arrives, the server has the quiet time, and what it answered arrives. */
  quiet(): Promise<void> {
    return this.#connection.quiet();
  }

  /** An aggregated stream. Throws Skipped if the server has none of the variant. */
  open(variant: Variant): XdsStream {
    if (!this.#options.offered.has(variant)) throw new Skipped(`the server offers no ${variant} ADS`);
    return this.#open(variant, aggregated[variant]);
  }

  /** The same, and it has asked for these names of a type, or for its wildcard. */
  asking(variant: Variant, type: string, names: readonly string[] = []): XdsStream {
    const stream = this.open(variant);
    stream.ask(type, names);
    return stream;
  }

  /** A stream of the type's own service. */
  openService(variant: Variant, type: string): XdsStream {
    const service = resourceTypes.byTypeUrl(type)?.type.services.v3;
    const method = variant === "sotw" ? service?.stream : service?.delta;
    if (service === undefined || method === undefined) throw new Error(`${type} has no service for ${variant}`);
    return this.#open(variant, `/${service.service}/${method}`);
  }

  #open(variant: Variant, path: string): XdsStream {
    // The second one is `b`.
    const label = this.#streams.length === 0 ? "" : String.fromCharCode(97 + Math.min(this.#streams.length, 25));
    const stream = new XdsStream({
      variant,
      path,
      connection: this.#connection,
      node: this.#options.node,
      transcript: this.transcript,
      label,
      bounds: this.bounds,
    });
    this.#streams.push(stream);
    return stream;
  }

  /** Leaves the connection; further streams are on a new one. */
  reconnect(): void {
    this.close();
    this.#connection = new Connection(this.#options.target, this.bounds);
  }

  /** Ends whatever the check left open. */
  close(): void {
    for (const stream of this.#streams) stream.cancel();
    this.#connection.close();
  }
}
