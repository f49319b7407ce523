import { resourceTypes } from "@xdskit/api";
import { defaultKeepalive } from "@xdskit/grpc-server";
import type { Transport } from "../contracts/transport.js";
import { grpcClient, memoryClient } from "../testing/clients/raw-client.js";
import { describeTransport } from "../testing/transport-contract.js";
import { createGrpcTransport } from "./grpc/grpc-transport.js";
import { createMemoryTransport, type MemoryTransport } from "./memory/memory-transport.js";

describeTransport({
  name: "gRPC",
  address: "127.0.0.1:0",
  create: () => createGrpcTransport({ types: resourceTypes, keepalive: defaultKeepalive, requestBytes: 16 << 20 }),
  connect: (_, address) => grpcClient(resourceTypes, address),
});

describeTransport({
  name: "memory",
  address: "here",
  create: createMemoryTransport,
  connect: (transport, address) => memoryClient(asMemory(transport), address),
});

function asMemory(transport: Transport): MemoryTransport {
  if ("open" in transport && typeof transport.open === "function") return transport as MemoryTransport;
  throw new Error("not an in-memory transport");
}
