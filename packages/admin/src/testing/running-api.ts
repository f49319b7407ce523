import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, createRegistry, type Finding, type Resource } from "@xdskit/api";
import {
  createMemoryStore,
  createServer,
  KeptSource,
  type Revision,
  type ServerOptions,
  type Source,
  type SourceSink,
  type Store,
  WrittenLayers,
} from "@xdskit/server";
import type { PeerServer } from "../contract/peers.js";
import { createAdminApi } from "../index.js";

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
  readonly body: any;
}

const retention = { revisions: 1_000, since: 0 };

/** A server with a layer `folder` of a source, layers of the API over and under it, and the API itself. */
export async function runningApi(
  options: {
    readonly store?: Store;
    readonly server?: ServerOptions;
    readonly clock?: Clock;
    /** The resources of the source at its start. */
    readonly folder?: readonly Resource[];
    readonly peers?: () => readonly PeerServer[];
    /** Its name among others. */
    readonly replica?: string;
  } = {},
) {
  const store = options.store ?? (await createMemoryStore());
  const registry = createRegistry();
  const groups = [{ name: "all", match: {}, layers: ["under", "folder", "api"] }];
  const server = createServer({ groups, ...options.server });
  const reading = { registry, types: server.types, retention };
  const problems: Finding[] = [];
  const onProblem = (findings: readonly Finding[]) => void problems.push(...findings);
  const listeners = new Set<(revision: Revision) => void>();
  const onRevision = (revision: Revision) => {
    for (const listener of listeners) listener(revision);
  };
  const written = await WrittenLayers.open({
    ...reading,
    onRevision,
    store,
    server,
    layers: ["under", "api"],
    onProblem,
    clock: options.clock,
  });
  const folder = new FolderOfTests(options.folder ?? []);
  const info = { author: "me", cause: { kind: "files", files: ["a.yaml"] }, message: "" } as const;
  const kept = new KeptSource({
    ...reading,
    store,
    layers: ["folder"],
    onProblem,
    source: folder,
    describe: () => ({ ...info, time: Date.now() }),
    check: server.checkChange,
    onRevision,
  });
  await Promise.all([server.addSource(kept), server.addSource(written)]);
  const ofApi = { store, durable: true, filled: { by: "api", written } } as const;
  const api = createAdminApi({
    server,
    registry,
    version: "0",
    peers: options.peers,
    replica: options.replica,
    onRevision: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    layers: [
      { name: "under", layer: "under", place: "under", ...ofApi },
      { name: "folder", layer: "folder", place: null, durable: true, store, filled: { by: "source", kept } },
      { name: "api", layer: "api", place: "over", ...ofApi },
    ],
  });
  const http = createHttpServer((request, response) => void api.respond(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}/api/v1/`;
  return {
    server,
    store,
    written,
    kept,
    problems,
    base,
    http,
    answers: api.answers,
    /** The number of readers of events. */
    readers: () => api.stats().eventReaders,
    /** Gives the source of the layer `folder` these resources. */
    folder: (...resources: readonly Resource[]) => folder.replace(resources),
    ask: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      ask(method, `${base}${path}`, body, headers),
    async [Symbol.asyncDispose](): Promise<void> {
      await api.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.close();
    },
  };
}

/** A source of a layer `folder`. */
class FolderOfTests implements Source {
  readonly name = "folder";
  readonly #first: readonly Resource[];
  #sink: SourceSink | undefined;

  constructor(first: readonly Resource[]) {
    this.#first = first;
  }

  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    this.replace(this.#first);
  }

  replace(upsert: readonly Resource[]): void {
    this.#sink?.apply([{ layer: "folder", kind: "replace", upsert }]);
  }

  async close(): Promise<void> {}
}

async function ask(method: string, url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const isText = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined || isText ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined || isText ? (body as string | undefined) : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A cluster as JSON. */
export function cluster(name: string, timeout = "1s"): Record<string, unknown> {
  return { "@type": clusterUrl, name, connectTimeout: timeout };
}
