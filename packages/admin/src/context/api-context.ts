import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inTurns, noSuchType, oneByOne, type Resource, type ResourceType } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import {
  decodeStored,
  type GroupPreview,
  type LayerName,
  type Revision,
  type RevisionId,
  type Store,
} from "@xdskit/server";
import { createShowResource, type FieldNames, type ShowResource } from "../answers/resource-json.js";
import { revisionJson } from "../answers/revision-json.js";
import { previewsBetween } from "../answers/stages.js";
import { type ApiCaller, mayNot, type Need, tooManyWrites, unknownCaller } from "../contract/access.js";
import type { AdminApiOptions, ApiLayer } from "../contract/admin-options.js";
import type { RevisionJson } from "../contract/answers.js";
import type { ServedFleet } from "../contract/fleet.js";
import { unknownValue } from "../contract/known-values.js";
import type { PeerServer } from "../contract/peers.js";
import { ApiProblem } from "../contract/problem.js";
import { createLocalFleet, type LocalFleet } from "../fleet/local-fleet.js";
import { createReplicatedFleet } from "../fleet/replicated-fleet.js";
import { VersionRevisions } from "../fleet/version-revisions.js";
import { createBodies } from "../requests/read-body.js";

/** The parts that all routes share. */
export class ApiContext {
  readonly options: AdminApiOptions;
  readonly show: ShowResource;
  /** The same with the names of fields as in protos, for people. */
  readonly showProto: ShowResource;
  readonly fleet: ServedFleet;
  /** The nodes with streams to this server. */
  readonly localFleet: LocalFleet;
  readonly peers: () => readonly PeerServer[];
  readonly bodies = createBodies();
  /** Reads the resources in bodies, and shows long ones. */
  readonly reading: ReadingThread;
  /** In milliseconds since 1970. */
  readonly startedAt = Date.now();
  /** Ends its listeners, and the thread. */
  readonly close: () => void;
  #applied = 0;

  constructor(options: AdminApiOptions) {
    this.options = options;
    this.reading = new ReadingThread({ registry: options.registry, types: options.server.types });
    this.show = createShowResource(options.registry, this.reading);
    this.showProto = createShowResource(options.registry, this.reading, "proto");
    const { server, replica = hostname(), whereIs, whereField } = options;
    this.peers = options.peers ?? (() => []);
    const made = options.versions ?? new VersionRevisions(server, options, () => options.layers);
    this.localFleet = createLocalFleet({ server, show: this.showProto, versions: made, replica, whereIs, whereField });
    const everywhere = options.peers && createReplicatedFleet(this.localFleet, options.peers, server);
    this.fleet = everywhere ?? this.localFleet;
    const stopCounting = options.server.on(
      () => {
        this.#applied += 1;
      },
      (kind) => kind === "configuration-applied",
    );
    this.close = () => {
      stopCounting();
      if (made instanceof VersionRevisions && made !== options.versions) made.close();
      this.reading.close();
    };
  }

  /** How many changes of the configuration there were since the start of the API. */
  get applied(): number {
    return this.#applied;
  }

  /** Shows resources with fields that are called so. */
  showAs(fields: FieldNames | undefined): ShowResource {
    return fields === "proto" ? this.showProto : this.show;
  }

  /** Who sends a request. */
  #callerOf(env: unknown, meanwhile?: "meanwhile"): ApiCaller | "anybody" | undefined {
    const { callerOf } = this.options;
    if (callerOf === undefined) return "anybody";
    const { incoming } = (env ?? {}) as { readonly incoming?: IncomingMessage };
    return incoming && callerOf(incoming, meanwhile);
  }

  /** Throws a problem if the sender of a request may not do it. Undefined: it must be somebody who is known. */
  mustMay(env: unknown, need: Need | "nothing" | undefined, layer?: string): void {
    const caller = this.#callerOf(env);
    if (caller === "anybody") return;
    if (caller === undefined) throw ApiProblem.of(401, "XDSKIT_API_LOGIN", unknownCaller);
    if (need === undefined || (need !== "nothing" && caller.may(need, layer))) return;
    throw ApiProblem.of(403, "XDSKIT_API_FORBIDDEN", mayNot(caller, need, layer));
  }

  /** Whether the sender of a request may still read: what it proved may end, and its role be taken away. */
  stillReads(env: unknown): boolean {
    const caller = this.#callerOf(env, "meanwhile");
    if (caller === "anybody" || caller === undefined) return caller === "anybody";
    return caller.may("read") && (caller.endsAt === undefined || caller.endsAt > Date.now());
  }

  /** Throws a problem if the sender of a change has made too many. */
  mustHaveRoom(env: unknown): void {
    const caller = this.#callerOf(env);
    if (typeof caller === "object" && caller.takes?.() === false)
      throw ApiProblem.of(429, "XDSKIT_BUSY", tooManyWrites(caller));
  }

  /** The layer of a path, for a sender who may change it. Throws a problem if there is none. */
  layerToWrite(env: unknown, name: string): ApiLayer {
    const layer = this.layer(name);
    this.mustMay(env, "write", layer.name);
    return layer;
  }

  /** Who sends a request, for a revision. Without roles that is what it says itself. */
  senderOf(env: unknown, given: string | undefined): { readonly author: string; readonly address: string } {
    const caller = this.#callerOf(env);
    const author = typeof caller === "object" ? caller.name : (given ?? "api");
    return { author, address: addressOf(env) };
  }

  /** Throws a problem if there is none. */
  layer(name: string): ApiLayer {
    const layer = this.options.layers.find((one) => one.name === name);
    if (layer !== undefined) return layer;
    const known = this.options.layers.map((one) => JSON.stringify(one.name)).join(", ");
    throw ApiProblem.of(404, "XDSKIT_LAYER_UNKNOWN", `there is no layer ${quoted(name)}, only ${known}`);
  }

  /** The type of a path. Throws a problem (404) if there is none. */
  type(nameOrUrl: string): ResourceType {
    const { types } = this.options.server;
    const type = types.find(nameOrUrl);
    if (type !== undefined) return type;
    throw ApiProblem.of(404, "XDSKIT_TYPE_NAME_UNKNOWN", noSuchType(nameOrUrl, types));
  }

  /** The type that a query selects; undefined: all. Throws a problem (400) if there is none. */
  typeFilter(nameOrUrl: string | undefined): ResourceType | undefined {
    const { types } = this.options.server;
    const type = nameOrUrl === undefined ? undefined : types.find(nameOrUrl);
    if (nameOrUrl === undefined || type !== undefined) return type;
    const known = Array.from(types.all, ({ name }) => name);
    throw unknownValue("type", noSuchType(nameOrUrl, types), known);
  }

  /** The newest revision of a layer. */
  async head({ layer, filled, store }: ApiLayer): Promise<Revision | undefined> {
    return filled.by === "api" ? filled.written.head(layer) : await store?.head(layer);
  }

  /** A revision with the name of its layer in the API. */
  revisionJson(revision: Revision): RevisionJson {
    return revisionJson(revision, this.layerName(revision.layer));
  }

  /** The name of a server's layer in the API. */
  layerName(layer: LayerName): string {
    return this.options.layers.find((one) => one.layer === layer)?.name ?? layer;
  }

  /** The content of a layer at a revision. */
  async contents(store: Store, id: RevisionId): Promise<readonly Resource[]> {
    const { registry, server } = this.options;
    const reading = { registry, types: server.types };
    const read: Resource[] = [];
    await inTurns(oneByOne(await store.read(id), (stored) => void read.push(decodeStored(stored, reading))));
    return read;
  }

  /** What a change of a layer's content means to each group, with the other layers as they are now. */
  async previews(
    layer: LayerName,
    before: readonly Resource[],
    after: readonly Resource[],
  ): Promise<readonly GroupPreview[]> {
    const { server } = this.options;
    const preview = (upsert: readonly Resource[]) => server.preview([{ layer, kind: "replace", upsert }]);
    const applied = this.#applied;
    let from = preview(before);
    await nextTurn();
    // Both must be of one moment.
    if (applied !== this.#applied) from = preview(before);
    const previews = previewsBetween(from, preview(after), server.snapshotOf);
    await nextTurn();
    return previews;
  }

  /** A revision and its place. Throws a problem if there is no such revision. */
  async revision(id: RevisionId): Promise<{ readonly revision: Revision; readonly store: Store }> {
    const stores = new Set(this.options.layers.flatMap(({ store }) => store ?? []));
    for (const store of stores) {
      const revision = await store.revision(id);
      const isShown = this.options.layers.some(({ layer }) => layer === revision?.layer);
      if (revision !== undefined && isShown) return { revision, store };
    }
    throw ApiProblem.of(404, "XDSKIT_REVISION_UNKNOWN", `there is no revision ${quoted(id)}`);
  }
}

/** Where a request comes from; empty over a Unix socket. */
export function addressOf(env: unknown): string {
  const { incoming } = (env ?? {}) as { readonly incoming?: IncomingMessage };
  return incoming?.socket?.remoteAddress ?? "";
}

/** A name from outside: long ones are cut. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`);
}
