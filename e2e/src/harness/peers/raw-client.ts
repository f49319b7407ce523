import { Client, type ClientDuplexStream, credentials, type StatusObject } from "@grpc/grpc-js";
import type { Scene } from "../basics/scene.js";
import { eventually, within } from "../basics/wait.js";
import { clusterType, fields, request, response } from "../basics/wire.js";

/** A stream to the server on which a test can send any bytes. */
export interface RawStream {
  send(bytes: Uint8Array): void;
  /** Everything received so far. */
  readonly received: readonly Buffer[];
  /** Resolves to the status with which the server ends the stream. */
  status(withinMs?: number): Promise<StatusObject>;
  isOpen(): boolean;
  end(): void;
}

export interface RawClient {
  open(method: string): RawStream;
  close(): void;
}

export const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
export const deltaAds = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
export const eds = "/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints";
export const cds = "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters";

/** Bytes in and out, over a connection of its own. Without a scene, the caller closes it. */
export function createRawClient(scene: Scene | undefined, server: string): RawClient {
  const bytes = (value: Buffer): Buffer => value;
  const client = new Client(server, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
  });
  scene?.onEnd(() => client.close());
  return {
    open(method) {
      const stream: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(method, bytes, bytes);
      const received: Buffer[] = [];
      let ended = false;
      const status = new Promise<StatusObject>((resolve) => {
        stream.on("status", (value: StatusObject) => {
          ended = true;
          resolve(value);
        });
      });
      stream.on("data", (value: Buffer) => received.push(value));
      stream.on("error", () => undefined);
      return {
        send: (value) => {
          stream.write(Buffer.from(value));
        },
        received,
        status: (withinMs = 30_000) => within(`the end of ${method}`, withinMs, status),
        isOpen: () => !ended,
        end: () => stream.end(),
      };
    },
    close: () => client.close(),
  };
}

/** A well-behaved client that watches all clusters and acknowledges what it gets. */
export interface Observer {
  /** Names of the clusters it has now, each with `connect_timeout` in seconds: `a=1`. */
  clusters(): string;
  /** Resolves once it has exactly these. */
  sees(clusters: string, withinMs?: number): Promise<unknown>;
  /** Responses so far. */
  responses(): number;
  isConnected(): boolean;
}

export function observe(scene: Scene, server: string, node: string): Observer {
  const stream = createRawClient(scene, server).open(ads);
  stream.send(request({ type: clusterType, node }));
  let acknowledged = 0;
  const timer = setInterval(() => {
    for (; acknowledged < stream.received.length; acknowledged += 1) {
      const { version, nonce, type } = response(stream.received[acknowledged] ?? Buffer.alloc(0));
      stream.send(request({ type, version, nonce }));
    }
  }, 20);
  scene.onEnd(() => {
    clearInterval(timer);
    stream.end();
  });
  const clusters = (): string => {
    const last = stream.received.at(-1);
    if (last === undefined) return "nothing yet";
    return response(last)
      .resources.map((body) => `${fields(body, 1).join("")}=${seconds(fields(body, 4)[0])}`)
      .sort()
      .join(" ");
  };
  return {
    clusters,
    sees: (wanted, withinMs = 30_000) =>
      eventually(
        `an observer that has ${wanted}`,
        () => {
          if (clusters() === wanted) return true;
          throw new Error(`it has ${clusters()}${stream.isOpen() ? "" : " and is disconnected"}`);
        },
        { withinMs },
      ),
    responses: () => stream.received.length,
    isConnected: () => stream.isOpen(),
  };
}

/** The `seconds` of a Duration below 128 s. */
const seconds = (duration: Buffer | undefined): number => duration?.[1] ?? 0;
