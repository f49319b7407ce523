import { type Finding, type ResourceTypes, resourceTypes, XdskitError } from "@xdskit/api";
import { type Node, type Snapshot, statusCode } from "@xdskit/protocol";
import { type Config, createConfig } from "./config.js";
import { createCounters } from "./counters.js";
import { createEvents, type ServerListener } from "./events.js";
import { createFairQueue } from "./fair-queue.js";
import { answerFetch } from "./fetch.js";
import { createGroups, type GroupOf, type GroupSettings } from "./groups.js";
import { defaultKeepalive, type Keepalive } from "./keepalive.js";
import { createLayers } from "./layers.js";
import { defaultServerLimits, type ServerLimits } from "./limits.js";
import { createPublication } from "./publication.js";
import { createRejections } from "./rejections.js";
import { Session, type SessionContext } from "./session.js";
import type { LayerUpdate, Source } from "./source.js";
import { layerStats, type ServerStats } from "./stats.js";
import type { Accept, Transport } from "./transport.js";
import { createGrpcTransport } from "./transports/grpc/grpc-transport.js";

/** All of it may be left out. */
export interface ServerOptions {
  /**
   * Which nodes are served which layers: settings, or a function that names the group of a node. Default: every node gets every layer.
   * A node that no group matches is refused with PERMISSION_DENIED.
   */
  readonly groups?: readonly GroupSettings[] | GroupOf | undefined;
  /** See `ServerLimits` for each default. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Who a client is that sends no node. Default: such a client is refused with INVALID_ARGUMENT. */
  readonly defaultNode?: Node | undefined;
  /** See `Keepalive` for each default. */
  readonly keepalive?: Partial<Keepalive> | undefined;
  /** The types of resources; default is the built-in table. Types of one's own get their gRPC services too. */
  readonly types?: ResourceTypes | undefined;
}

/** Where to listen: a transport each, `HOST:PORT`. Port 0 picks a free one. */
export interface Addresses {
  /** Such as `127.0.0.1:18000`, `[::1]:0`, `0.0.0.0:18000`. */
  readonly grpc: string;
}

/** A management server. */
export interface XdsServer {
  /** What the program itself serves: the layer `default`, and others by name. */
  readonly config: Config;
  /** The types of resources that it knows. */
  readonly types: ResourceTypes;
  /**
   * Starts a source; resolves when its first configuration was applied, rejects as the source does. Until then, and if nothing was
   * served before, clients wait: they are never told a part of the configuration.
   */
  addSource(source: Source): Promise<void>;
  /**
   * Starts to listen on gRPC; may be called again for more addresses. Resolves to the addresses in use. Rejects with an XdskitError
   * if an address is wrong or taken.
   */
  listen(addresses: Addresses): Promise<Addresses>;
  /** Listens by another transport, such as the in-memory one of tests; `address` is the transport's own. */
  listenOn(transport: Transport, address: string): Promise<string>;
  /**
   * Ends every stream with status OK (rule 15), closes the sources and stops listening. Resolves when all is closed, at the latest
   * after `timeoutMs` (default 4,000): then connections are cut. A second call waits for the first.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Calls a function at every event, in the order in which they happen; returns what stops it. */
  on(listener: ServerListener): () => void;
  /** Numbers about the server, cheap to read. */
  stats(): ServerStats;
  /** What a group of nodes is to have now (`all` without groups); undefined where there is no such group, or nothing is known yet. */
  snapshotOf(group: string): Snapshot | undefined;
}

/** Makes a server. Throws an XdskitError if the settings of the groups are wrong. */
export function createServer(options: ServerOptions = {}): XdsServer {
  const types = options.types ?? resourceTypes;
  const limits: ServerLimits = { ...defaultServerLimits, ...options.limits };
  const keepalive: Keepalive = { ...defaultKeepalive, ...options.keepalive };
  const counters = createCounters();
  const events = createEvents();
  const layers = createLayers();
  const publication = createPublication(layers, createGroups(options.groups), limits);
  const sessions = new Set<Session>();
  const sources: Source[] = [];
  const transports = new Set<Transport>();
  let grpc: Transport | undefined;
  let lastId = 0;
  let closing: Promise<void> | undefined;

  const context: SessionContext = {
    ...{ types, limits, publication, counters, events },
    defaultNode: options.defaultNode,
    rejections: createRejections(),
    queue: createFairQueue((session) => session.work()),
    ended: (session) => void sessions.delete(session),
  };

  const accept: Accept = (connection) => {
    const { only, unary } = connection.method;
    const refuse = (code: (typeof statusCode)["unavailable" | "resourceExhausted"], message: string) => {
      counters.refuse(code);
      const { method, peer } = connection;
      events.emit(() => ({
        kind: "stream-refused",
        stream: { id: ++lastId, method, peer },
        node: undefined,
        code,
        message,
      }));
      return { code, message };
    };
    if (closing !== undefined) return refuse(statusCode.unavailable, "the server is shutting down");
    if (sessions.size >= limits.streams) {
      return refuse(statusCode.resourceExhausted, `the server has ${sessions.size} streams open and takes no more`);
    }
    if (unary && only !== undefined) return answerFetch(context, connection, only, ++lastId);
    const session = new Session(context, connection, ++lastId);
    sessions.add(session);
    return session;
  };

  function refused(source: string, findings: readonly Finding[]): void {
    counters.configurationsRefused += 1;
    events.emit(() => ({ kind: "configuration-refused", source, findings }));
  }

  /** `source` names who is told about in events. */
  function apply(source: string, read: () => readonly LayerUpdate[]): void {
    let changes: ReturnType<typeof layers.apply>;
    try {
      changes = layers.apply(read());
    } catch (error) {
      if (error instanceof XdskitError) refused(source, error.findings);
      throw error;
    }
    if (changes.length === 0) return;
    counters.configurationsApplied += 1;
    const count = (what: "upserted" | "removed") => changes.reduce((sum, change) => sum + change[what].length, 0);
    events.emit(() => ({
      kind: "configuration-applied",
      layers: changes.map(({ layer }) => layer),
      upserted: count("upserted"),
      removed: count("removed"),
    }));
    publication.publish(changes);
  }

  async function addSource(source: Source): Promise<void> {
    refuseIfClosed();
    sources.push(source);
    const release = publication.hold();
    try {
      await source.start({
        apply: (updates) => apply(source.name, () => updates),
        report(findings) {
          if (findings.some(({ severity }) => severity === "error")) refused(source.name, findings);
          else events.emit(() => ({ kind: "configuration-checked", source: source.name, findings }));
        },
      });
    } finally {
      release();
    }
  }

  function refuseIfClosed(): void {
    if (closing !== undefined) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
  }

  async function listenOn(transport: Transport, address: string): Promise<string> {
    refuseIfClosed();
    transports.add(transport);
    return await transport.listen(address, accept);
  }

  async function shutDown(timeoutMs: number): Promise<void> {
    for (const session of sessions) session.end(statusCode.ok, "");
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const closed = await Promise.allSettled([
      ...Array.from(transports, (transport) => transport.close(timeoutMs)),
      // A source may hang, a transport may not: it keeps to the time by its contract.
      ...sources.map((source) => Promise.race([source.close(), late])),
    ]);
    clearTimeout(timer);
    for (const result of closed) if (result.status === "rejected") throw result.reason;
  }

  return {
    config: createConfig(types, (layer, read) => apply(layer, () => [read()])),
    types,
    addSource,
    async listen(addresses) {
      grpc ??= createGrpcTransport({ types, keepalive, requestBytes: limits.requestBytes });
      return { grpc: await listenOn(grpc, addresses.grpc) };
    },
    listenOn,
    async close({ timeoutMs = 4_000 } = {}) {
      closing ??= shutDown(timeoutMs);
      await closing;
    },
    on: events.on,
    stats: () => ({
      streams: counters.streams,
      types: counters.types,
      fetches: counters.fetches,
      refused: counters.refused,
      nodes: publication.nodes,
      groups: publication.groups,
      configuration: {
        applied: counters.configurationsApplied,
        refused: counters.configurationsRefused,
        layers: layers.names.map((name) => layerStats(name, layers.get(name))),
      },
    }),
    snapshotOf: publication.snapshotOf,
  };
}
