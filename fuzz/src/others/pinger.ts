import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { DeltaDiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { clusters, delta } from "../flood/messages.js";
import { quantile } from "../flood/others.js";

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
    stream.write(
      Buffer.from(delta({ node: { id: "other" }, typeUrl: clusters, responseNonce, resourceNamesSubscribe })),
    );
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
      return waited(waits);
    },
  };
}

/** Asks the API for little, again and again, 2 ms after it was answered. */
export function pingApi(admin: string): { close(): Promise<Waited> } {
  const waits: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      await fetch(`http://${admin}/api/v1/layers`).then(
        (answer) => answer.arrayBuffer(),
        () => {},
      );
      waits.push(performance.now() - began);
      await sleep(pauseMs);
    }
  })();
  return {
    async close() {
      isOver = true;
      await Promise.race([asking, sleep(1_000, undefined, { ref: false })]);
      return waited(waits);
    },
  };
}

function waited(waits: readonly number[]): Waited {
  return { median: quantile(waits, 0.5), p99: quantile(waits, 0.99), longest: quantile(waits, 1) };
}
