import type { DescMessage } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import { drivenContent, type World, worldWords } from "../driver/driven-content.js";
import type { Driver, DriverSkill } from "../driver/driver.js";
import type { Bounds } from "../verdicts/bounds.js";
import { Skipped } from "../verdicts/verdicts.js";
import type { CallOptions, CallStream } from "../wire/call-stream.js";
import { Connection, type Target } from "../wire/connection.js";
import { MessageStream, type NotedMethod } from "../wire/message-stream.js";
import type { ProtocolVariant, SentRequest } from "../wire/messages.js";
import { Poll, type PollForm } from "../wire/poll.js";
import { Transcript } from "../wire/transcript.js";
import { XdsStream } from "../wire/xds-stream.js";
import type { FoundNames } from "./found-names.js";

/** What is the same for all checks of a run. */
export interface PeerOptions {
  readonly target: Target;
  readonly node: Node;
  readonly bounds: Bounds;
  readonly content: FoundNames;
  /** The variants of which the server has the aggregated service. */
  readonly offered: ReadonlySet<ProtocolVariant>;
  /** Undefined: nobody changes what the server serves. */
  readonly driver: Driver | undefined;
  /** The URL before `/v3/discovery:…`. Undefined: nobody says where the server answers polls. */
  readonly rest: string | undefined;
  /** Chooses what checks choose at random. */
  readonly seed: number;
}

const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const aggregated: Readonly<Record<ProtocolVariant, string>> = {
  sotw: `/${ads}/StreamAggregatedResources`,
  delta: `/${ads}/DeltaAggregatedResources`,
};

/** The server, as one check sees it: with a connection and a transcript of its own. */
export class ServerPeer {
  readonly content: FoundNames;
  readonly bounds: Bounds;
  readonly transcript = new Transcript();
  readonly #options: PeerOptions;
  #connection: Connection;
  readonly #stalled: Connection[] = [];
  readonly #streams: CallStream[] = [];
  readonly #polls: Poll[] = [];

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

  /** Throws Skipped if the driver cannot do this. Only known once the driver has answered. */
  needs(skill: DriverSkill): void {
    const cannot = { restart: "restart the server", types: "set other types", ttl: "set TTLs", aliases: "set aliases" };
    if (!this.driver.skills.has(skill)) throw new Skipped(`the driver cannot ${cannot[skill]}`);
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

  /** Whether the server has an aggregated service of the variant. */
  offers(variant: ProtocolVariant): boolean {
    return this.#options.offered.has(variant);
  }

  /** An aggregated stream. Throws Skipped if the server has none of the variant. */
  open(variant: ProtocolVariant, node: Node = this.node): XdsStream {
    if (!this.offers(variant)) throw new Skipped(`the server offers no ${variant} ADS`);
    return this.#open(variant, aggregated[variant], node);
  }

  /** The node of the run, with these features. */
  nodeWith(...clientFeatures: readonly string[]): Node {
    return { ...this.node, clientFeatures: [...this.node.clientFeatures, ...clientFeatures] };
  }

  /** The same, and it has asked for these names of a type, or for its wildcard. */
  asking(variant: ProtocolVariant, type: string, names: readonly string[] = []): XdsStream {
    const stream = this.open(variant);
    stream.ask(type, names);
    return stream;
  }

  /** The same on a connection of its own; after the first answer next to nothing is read before `readOn`. */
  stalled(variant: ProtocolVariant): { readonly stream: XdsStream; readonly readOn: () => void } {
    if (!this.offers(variant)) throw new Skipped(`the server offers no ${variant} ADS`);
    const connection = new Connection(this.#options.target, this.bounds, true);
    this.#stalled.push(connection);
    const options = { ...this.#callOptions(), connection, variant, path: aggregated[variant], node: this.node };
    const stream = this.#kept(new XdsStream(options));
    return { stream, readOn: () => connection.readOn() };
  }

  /** A stream of the type's own service. */
  openService(variant: ProtocolVariant, type: string): XdsStream {
    const service = resourceTypes.byTypeUrl(type)?.type.services.v3;
    const method = variant === "sotw" ? service?.stream : service?.delta;
    if (service === undefined || method === undefined) throw new Error(`${type} has no service for ${variant}`);
    return this.#open(variant, `/${service.service}/${method}`, this.node);
  }

  #open(variant: ProtocolVariant, path: string, node: Node): XdsStream {
    return this.#kept(new XdsStream({ ...this.#callOptions(), variant, path, node }));
  }

  /** A call of another service. */
  call<Q extends DescMessage, A extends DescMessage>(method: NotedMethod<Q, A>): MessageStream<Q, A> {
    return this.#kept(new MessageStream(method, this.#callOptions()));
  }

  #callOptions(): Omit<CallOptions, "path"> {
    const { transcript, bounds } = this;
    // The second one is `b`.
    const label = this.#streams.length === 0 ? "" : String.fromCharCode(97 + Math.min(this.#streams.length, 25));
    return { connection: this.#connection, transcript, label, bounds };
  }

  #kept<S extends CallStream>(stream: S): S {
    this.#streams.push(stream);
    return stream;
  }

  /** Polls a type over REST, by default for all of its resources. Throws Skipped if nobody says where. */
  poll(type: string, request: Omit<SentRequest, "type"> & PollForm = {}): Poll {
    const { transcript, bounds } = this;
    const connection = this.#connection;
    const { rest, target } = this.#options;
    if (rest === undefined) throw new Skipped("needs to know where the server answers polls: --rest");
    const asked = { node: this.node, ...request };
    const poll = new Poll({ rest, headers: target.headers, type, request: asked, transcript, bounds, connection });
    this.#polls.push(poll);
    return poll;
  }

  /** Leaves the connection; further streams are on a new one. */
  reconnect(): void {
    this.close();
    this.#connection = new Connection(this.#options.target, this.bounds);
  }

  /** Ends whatever the check left open. */
  close(): void {
    for (const call of [...this.#streams, ...this.#polls]) call.cancel();
    for (const connection of [this.#connection, ...this.#stalled]) connection.close();
  }
}
