import { create, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { ClientStatusResponseSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import type { ClientPlace, StartClient } from "../../client/client-peer.js";
import { bytesService, wholeBytes } from "../../wire/bytes-service.js";
import {
  decodeResponse,
  encodeRequest,
  type ProtocolVariant,
  type ReceivedResponse,
  type SentRequest,
} from "../../wire/messages.js";
import type { ClientMistake } from "./client-mistakes.js";
import { type AskedType, cluster, clustersOf, endpoint, messagesOf, route } from "./client-resources.js";

const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
/** After so long without an answer a resource does not exist. The document says 15 s; tests have less time. */
const timerMs = 11_000;

/** A client of two clusters, and of the endpoints to which routes lead, with a mistake or without. */
export function referenceClient(variant: ProtocolVariant, mistake?: ClientMistake): StartClient {
  return (place) => {
    const client = new ReferenceClient(variant, mistake, place);
    client.start();
    return () => client.stop();
  };
}

/** A stream to one of the servers. */
interface Link {
  readonly index: number;
  readonly client: Client;
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  hasNode: boolean;
}

class ReferenceClient {
  readonly #variant: ProtocolVariant;
  readonly #mistake: ClientMistake | undefined;
  readonly #place: ClientPlace;
  readonly #types = new Map<string, AskedType>();
  /** By the server's place. */
  readonly #links = new Map<number, Link>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #status = new Server();
  #waitMs = 200;
  #isOver = false;

  constructor(variant: ProtocolVariant, mistake: ClientMistake | undefined, place: ClientPlace) {
    this.#variant = variant;
    this.#mistake = mistake;
    this.#place = place;
    this.#hold(cluster, ["x", "y"]);
    this.#hold(route, ["r"]);
  }

  #hold(type: string, names: readonly string[]): AskedType {
    const asked: AskedType = { names, accepted: "", nonce: "", status: "requested", isDeaf: false };
    this.#types.set(type, asked);
    return asked;
  }

  /** A request for a type is on its way: the time for the answer begins. */
  #sent(type: string): void {
    const asked = this.#types.get(type);
    this.#after(this.#mistake === "timer-early" ? 1_000 : timerMs, () => {
      if (asked?.status === "requested") asked.status = "missing";
    });
  }

  #after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#isOver) work();
    }, ms);
    this.#timers.add(timer);
  }

  start(): void {
    const path = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
    this.#status.addService(bytesService(path, false), {
      method: (_: unknown, callback: (error: null, bytes: Uint8Array) => void) => callback(null, this.#statusBytes()),
    });
    this.#status.bindAsync(this.#place.status, ServerCredentials.createInsecure(), () => {});
    this.#open(0);
  }

  #statusBytes(): Uint8Array {
    const words = {
      requested: ClientResourceStatus.REQUESTED,
      acked: ClientResourceStatus.ACKED,
      nacked: ClientResourceStatus.NACKED,
      missing: ClientResourceStatus.DOES_NOT_EXIST,
    };
    const said = (status: AskedType["status"]) =>
      this.#mistake === "always-requested" ? "requested" : this.#mistake === "always-acked" ? "acked" : status;
    const genericXdsConfigs = [...this.#types].flatMap(([typeUrl, { names, status }]) =>
      names.map((name) => ({ typeUrl, name, clientStatus: words[said(status)] })),
    );
    return toBinary(
      ClientStatusResponseSchema,
      create(ClientStatusResponseSchema, { config: [{ genericXdsConfigs }] }),
    );
  }

  #open(index: number): void {
    const client = new Client(this.#place.servers[index]!, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    const method = this.#variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
    const call = client.makeBidiStreamRequest(`${ads}/${method}`, wholeBytes, (bytes: Uint8Array) => bytes);
    const link: Link = { index, client, call, hasNode: this.#mistake === "no-node" };
    this.#links.set(index, link);
    call.on("data", (bytes: Uint8Array) => this.#received(link, decodeResponse(this.#variant, bytes)));
    call.on("error", () => {});
    call.on("status", () => this.#ended(link));
    for (const [type, asked] of this.#types) {
      const had = this.#mistake === "version-forgotten" ? "" : asked.accepted;
      const initial = had === "" ? {} : Object.fromEntries(asked.names.map((name) => [name, had]));
      const nonce = this.#mistake === "nonce-kept" ? asked.nonce : "";
      this.#send(link, { type, names: asked.names, subscribe: asked.names, version: had, initial, nonce });
    }
  }

  #send(link: Link, request: SentRequest): void {
    const node = link.hasNode ? undefined : create(NodeSchema, { id: "a-client" });
    link.hasNode = true;
    link.call.write(encodeRequest(this.#variant, { ...request, node }), () => this.#sent(request.type));
  }

  #ended({ index, client }: Link): void {
    client.close();
    this.#links.delete(index);
    if (this.#isOver || this.#mistake === "no-reconnect") return;
    this.#waitMs = Math.min(2 * this.#waitMs, 3_000);
    const other = index + 1;
    const hasNothing = [...this.#types.values()].every(({ accepted }) => accepted === "");
    const falls = hasNothing && this.#place.servers[other] !== undefined && this.#mistake !== "no-fallback";
    if (falls && !this.#links.has(other)) this.#open(other);
    if (this.#mistake === "never-returns" && falls) return;
    this.#after(this.#mistake === "no-wait" ? 1 : this.#waitMs, () => this.#open(index));
  }

  #received(link: Link, response: ReceivedResponse): void {
    // A server that answers is used before those behind it.
    for (const other of this.#links.values()) if (other.index > link.index) other.call.cancel();
    const asked = this.#types.get(response.type);
    if (asked === undefined || asked.isDeaf || this.#mistake === "no-answer") return;
    const messages = messagesOf(response, this.#mistake !== "one-is-enough");
    const isWrong = messages === undefined && this.#mistake !== "all-accepted";
    asked.nonce = response.nonce;
    asked.status = isWrong ? "nacked" : "acked";
    if (isWrong) asked.isDeaf = this.#mistake === "deaf-after-nack";
    else asked.accepted = response.resources[0]?.version || response.version;
    const claimed = this.#mistake === "wrong-version" ? "none" : asked.accepted;
    this.#send(link, {
      type: response.type,
      names: this.#mistake === "names-dropped" ? asked.names.slice(0, 1) : asked.names,
      version: isWrong && this.#mistake === "version-claimed" ? response.version : claimed,
      nonce: this.#mistake === "wrong-version" && this.#variant === "delta" ? "none" : response.nonce,
      ...(isWrong ? { error: "this cannot be read" } : {}),
    });
    if (response.type === route) this.#follow(link, clustersOf(messages ?? []));
  }

  /** Asks for the endpoints of these clusters, and no others. */
  #follow(link: Link, clusters: readonly string[]): void {
    const before = this.#types.get(endpoint)?.names ?? [];
    const names = this.#mistake === "never-unsubscribes" ? [...new Set([...before, ...clusters])] : clusters;
    const asked = this.#types.get(endpoint) ?? this.#hold(endpoint, names);
    asked.names = names;
    const [{ accepted: version, nonce }, isSotw] = [asked, this.#variant === "sotw"];
    const subscribe = names.filter((name) => !before.includes(name));
    const unsubscribe = before.filter((name) => !names.includes(name));
    this.#send(link, { type: endpoint, names, subscribe, unsubscribe, ...(isSotw ? { version, nonce } : {}) });
  }

  stop(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const { call, client } of this.#links.values()) {
      call.cancel();
      client.close();
    }
    this.#status.forceShutdown();
  }
}
