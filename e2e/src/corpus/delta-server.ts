import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { envoySchema } from "@xdskit/api";
import type {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";

const requestSchema = envoySchema<typeof DeltaDiscoveryRequestSchema>(
  "envoy.service.discovery.v3.DeltaDiscoveryRequest",
);
const responseSchema = envoySchema<typeof DeltaDiscoveryResponseSchema>(
  "envoy.service.discovery.v3.DeltaDiscoveryResponse",
);
const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** Envoy's answer to one response: accepted, or refused with a reason. */
export interface Answer {
  readonly error: string | undefined;
}

/** One resource of a response. */
export interface Sent {
  readonly name: string;
  readonly body: Uint8Array;
}

/**
 * A server of one client's delta ADS stream, that sends what it is told when it is told, valid or not. xdskit's server
 * would hold back, order and combine resources that Envoy must judge one by one.
 */
export interface DeltaServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Resolves once the client has subscribed to the type on its present stream. */
  subscribed(typeUrl: string): Promise<void>;
  /** Sends a response; resolves with the answer, or never where the client goes. */
  send(typeUrl: string, resources: readonly Sent[], removed?: readonly string[]): Promise<Answer>;
  /** Forgets the client that was there. */
  reset(): void;
  close(): void;
}

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** Starts one on a port of its own. */
export async function startDeltaServer(): Promise<DeltaServer> {
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  const bytes = (value: Buffer): Buffer => value;
  let stream: Stream | undefined;
  let waiting = new Map<string, (answer: Answer) => void>();
  let types = new Map<string, { readonly known: Promise<void>; readonly tell: () => void }>();
  let nonces = 0;

  const typeOf = (typeUrl: string) => {
    let type = types.get(typeUrl);
    if (type === undefined) {
      let tell = (): void => {};
      const known = new Promise<void>((resolve) => {
        tell = resolve;
      });
      type = { known, tell };
      types.set(typeUrl, type);
    }
    return type;
  };
  const take = (message: Buffer): void => {
    const request = fromBinary(requestSchema, message);
    typeOf(request.typeUrl).tell();
    const answer = waiting.get(request.responseNonce);
    waiting.delete(request.responseNonce);
    answer?.({ error: request.errorDetail?.message });
  };

  server.register(
    method,
    (call: Stream) => {
      stream = call;
      call.on("data", take);
      call.on("error", () => undefined);
      call.on("end", () => call.end());
    },
    bytes,
    bytes,
    "bidi",
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });

  return {
    address: `127.0.0.1:${port}`,
    subscribed: (typeUrl) => typeOf(typeUrl).known,
    send(typeUrl, resources, removed = []) {
      const nonce = String(++nonces);
      const response = create(responseSchema, {
        typeUrl,
        nonce,
        systemVersionInfo: nonce,
        removedResources: [...removed],
        resources: resources.map(({ name, body }) => ({
          name,
          version: nonce,
          resource: create(AnySchema, { typeUrl, value: body }),
        })),
      });
      return new Promise((resolve) => {
        waiting.set(nonce, resolve);
        stream?.write(Buffer.from(toBinary(responseSchema, response)));
      });
    },
    reset() {
      stream?.destroy();
      stream = undefined;
      waiting = new Map();
      types = new Map();
    },
    close: () => server.forceShutdown(),
  };
}
