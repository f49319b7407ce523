import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";

/** How long a client waited for its answers, in milliseconds. */
export interface Waited {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** A client that subscribes to a cluster anew, again and again, 2 ms after it was answered. */
export interface Pinger {
  forget(): void;
  /** The answer that is still missing counts, too. */
  close(): Waited;
}

const pauseMs = 2;

export function openPinger(server: string): Pinger {
  const asIs = (value: Buffer): Buffer => value;
  const client = new Client(server, credentials.createInsecure());
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
  const stream = client.makeBidiStreamRequest(path, asIs, asIs);
  const waits: number[] = [];
  let since: number | undefined;
  const say = (responseNonce: string, ...resourceNamesSubscribe: string[]) => {
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const message = { node: { id: "other" }, typeUrl, responseNonce, resourceNamesSubscribe };
    stream.write(Buffer.from(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, message))));
  };
  const ask = (nonce: string) => {
    since = performance.now();
    say(nonce, "a");
  };
  let timer: NodeJS.Timeout | undefined;
  stream.on("data", (bytes: Buffer) => {
    if (since !== undefined) waits.push(performance.now() - since);
    since = undefined;
    const { nonce } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    timer = setTimeout(ask, pauseMs, nonce);
  });
  // A stream that ends leaves its last answer missing.
  stream.on("error", () => {});
  ask("");
  return {
    forget() {
      waits.length = 0;
    },
    close() {
      clearTimeout(timer);
      client.close();
      if (since !== undefined) waits.push(performance.now() - since);
      waits.sort((a, b) => a - b);
      const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN;
      return { median: at(0.5), p99: at(0.99), longest: at(1) };
    },
  };
}
