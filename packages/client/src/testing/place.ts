import { create, type Message } from "@bufbuild/protobuf";
import type { ResourceName } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { createMemoryTransport, createServer, type XdsServer } from "@xdskit/server";
import type { StreamTransport } from "../upstreams/grpc/stream-transport.js";
import { memoryStreamTransport } from "./memory-stream-transport.js";

/** The types that a place has. */
export type PlaceType = "cluster" | "listener";

/** The content of a place's message. */
export function contentOf(message: Message): string {
  return String(Reflect.get(message, message.$typeName === ClusterSchema.typeName ? "altStatName" : "statPrefix"));
}

/** A server that goes and comes, always with its resources of that time. */
export class Place {
  /** By type and name; the content is a cluster's `alt_stat_name`, a listener's `stat_prefix`. */
  readonly content: Readonly<Record<PlaceType, Map<ResourceName, string>>> = {
    cluster: new Map(),
    listener: new Map(),
  };
  /** Streams of these types are refused. */
  readonly refused = new Set<PlaceType>();
  /** The number of refused streams. */
  refusals = 0;
  readonly #memory = createMemoryTransport();
  #server: XdsServer | undefined;

  get isUp(): boolean {
    return this.#server !== undefined;
  }

  get openStreams(): number {
    return this.#server?.stats().streams.reduce((sum, { open }) => sum + open, 0) ?? 0;
  }

  get transport(): StreamTransport {
    const real = memoryStreamTransport(this.#memory, "here");
    return {
      ...real,
      open: (method, handler) => {
        if (!this.refused.has(method.only?.name as PlaceType)) return real.open(method, handler);
        this.refusals += 1;
        let isOver = false;
        const end = (code: number, message: string) =>
          queueMicrotask(() => {
            if (!isOver) handler.ended(code, message);
            isOver = true;
          });
        end(14, "no such service");
        return { send() {}, read() {}, finish() {}, cancel: end };
      },
    };
  }

  async up(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer();
    server.config.set(this.#messages());
    await server.listenOn(this.#memory, "here");
    this.#server = server;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close({ timeoutMs: 0 });
  }

  change(type: PlaceType, name: ResourceName, content: string | undefined): void {
    if (content === undefined) this.content[type].delete(name);
    else this.content[type].set(name, content);
    this.#server?.config.set(this.#messages());
  }

  #messages() {
    return [
      ...Array.from(this.content.cluster, ([name, altStatName]) => create(ClusterSchema, { name, altStatName })),
      ...Array.from(this.content.listener, ([name, statPrefix]) => create(ListenerSchema, { name, statPrefix })),
    ];
  }
}
