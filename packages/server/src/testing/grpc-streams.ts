import { Client, credentials } from "@grpc/grpc-js";
import type { Method } from "../contracts/transport.js";
import type { MemoryStream } from "../transports/memory/memory-stream.js";
import type { MemoryTransport } from "../transports/memory/memory-transport.js";

/** Aggregated streams over gRPC with the interface of streams in memory, each on a connection of its own. */
export function grpcStreams(address: string): { readonly transport: Pick<MemoryTransport, "open">; close(): void } {
  const clients = new Set<Client>();
  const asIs = (bytes: Buffer) => bytes;
  return {
    transport: {
      open(_address: string, { variant }: Method, receive: (bytes: Uint8Array) => void) {
        const options = { "grpc.use_local_subchannel_pool": 1 };
        const client = new Client(address, credentials.createInsecure(), options);
        clients.add(client);
        const method = variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
        const service = "envoy.service.discovery.v3.AggregatedDiscoveryService";
        const call = client.makeBidiStreamRequest(`/${service}/${method}`, asIs, asIs);
        call.on("data", receive);
        call.on("error", () => {});
        const stream: Pick<MemoryStream, "send" | "cancel"> = {
          send: (bytes) => void call.write(Buffer.from(bytes)),
          cancel() {
            clients.delete(client);
            call.cancel();
            client.close();
          },
        };
        return stream as MemoryStream;
      },
    },
    close() {
      for (const client of clients) client.close();
      clients.clear();
    },
  };
}
