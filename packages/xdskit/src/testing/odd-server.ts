import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { resourceTypes } from "@xdskit/api";

/** One discovery stream that a client opened. */
export interface OddStream {
  /** Of the method: `StreamClusters`, `DeltaAggregatedResources` … */
  readonly method: string;
  readonly requests: Uint8Array[];
  /** What the client sent as `authorization`. */
  readonly authorization: string | undefined;
  send(bytes: Uint8Array): void;
  /** Ends the stream with a status. */
  end(code: number, message: string): void;
}

/** A gRPC server that knows nothing of xDS, and sends what a test says. */
export interface OddServer extends AsyncDisposable {
  readonly address: string;
  readonly streams: readonly OddStream[];
}

const same = (bytes: Buffer) => bytes;
const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";

/** Starts it. `onRequest` is called for each request, with how many came before on its stream. */
export async function oddServer(
  onRequest: (stream: OddStream, index: number) => void,
  credentials = ServerCredentials.createInsecure(),
): Promise<OddServer> {
  const server = new Server();
  const streams: OddStream[] = [];
  const handle = (method: string) => (call: ServerDuplexStream<Buffer, Buffer>) => {
    const stream: OddStream = {
      method,
      requests: [],
      authorization: call.metadata.get("authorization")[0]?.toString(),
      send: (bytes) => void call.write(Buffer.from(bytes)),
      end: (code, details) => void call.emit("error", { code, details }),
    };
    streams.push(stream);
    call.on("data", (bytes: Buffer) => {
      stream.requests.push(bytes);
      onRequest(stream, stream.requests.length - 1);
    });
    call.on("end", () => call.end()).on("error", () => {});
  };
  const add = (service: string, methods: readonly (string | undefined)[]) => {
    const named = methods.filter((method) => method !== undefined);
    server.addService(
      Object.fromEntries(named.map((method) => [method, definition(`/${service}/${method}`)])),
      Object.fromEntries(named.map((method) => [method, handle(method)])),
    );
  };
  add(ads, ["StreamAggregatedResources", "DeltaAggregatedResources"]);
  for (const { services } of resourceTypes) {
    if (services.v3 !== undefined) add(services.v3.service, [services.v3.stream, services.v3.delta]);
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    address: `127.0.0.1:${port}`,
    streams,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

function definition(path: string) {
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}
