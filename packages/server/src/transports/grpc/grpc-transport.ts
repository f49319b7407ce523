import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { ResourceTypes } from "@xdskit/api";
import { formatAddress } from "../../address.js";
import type { Keepalive } from "../../keepalive.js";
import type { Accept, Call, ConnectionHandler, Refusal, Transport } from "../../transport.js";
import { listenAddress, listenError } from "../listening.js";
import { joinParts, passBytes, type TwoParts } from "./message.js";
import { discoveryMethods } from "./methods.js";
import { serveStream } from "./streaming-connection.js";
import { serveUnary } from "./unary-connection.js";

/** What the gRPC transport needs to know. */
export interface GrpcTransportOptions {
  readonly types: ResourceTypes;
  readonly keepalive: Keepalive;
  /** The largest request, in bytes; a larger one ends its stream with RESOURCE_EXHAUSTED. */
  readonly requestBytes: number;
  /** Default: plaintext. */
  readonly credentials?: ServerCredentials | undefined;
}

/**
 * Discovery over gRPC: ADS and all per-type services of the table of types, SotW and delta, v2 and v3, and the unary `Fetch…`; and the
 * server's other services. Bytes in, bytes out: nothing is decoded here. Methods that do not exist answer UNIMPLEMENTED.
 */
export function createGrpcTransport(options: GrpcTransportOptions): Transport {
  const { types, keepalive, requestBytes, credentials = ServerCredentials.createInsecure() } = options;
  const server = new Server({
    "grpc.max_receive_message_length": requestBytes,
    "grpc.max_send_message_length": -1,
    "grpc.keepalive_time_ms": keepalive.intervalMs,
    "grpc.keepalive_timeout_ms": keepalive.timeoutMs,
    // grpc-js remembers its connections for channelz only: without it, forceShutdown would cut none.
    "grpc.enable_channelz": 1,
  });
  let known = false;

  function addServices(services: Iterable<GrpcService>): void {
    for (const { name: service, methods } of services) {
      const definition: Record<string, ServiceDefinition[string]> = {};
      const implementation: UntypedServiceImplementation = {};
      for (const [name, method] of Object.entries(methods)) {
        definition[name] = {
          path: `/${service}/${name}`,
          requestStream: !method.unary,
          responseStream: !method.unary,
          requestSerialize: passBytes,
          requestDeserialize: passBytes,
          responseSerialize: joinParts,
          responseDeserialize: passBytes,
        };
        implementation[name] = handlerOf(method);
      }
      server.addService(definition, implementation);
    }
  }

  return {
    async listen(address, accept, services) {
      const { host } = listenAddress(address);
      if (!known) addServices([...discoveryServices(types, accept), ...services]);
      known = true;
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync(address, credentials, (error, bound) => {
          if (error === null) resolve(bound);
          else reject(listenError(address, error));
        });
      });
      return formatAddress({ host, port });
    },
    async close(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const stopped = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([stopped, late]);
      clearTimeout(timer);
      server.forceShutdown();
    },
  };
}

/** A service as it is registered: discovery's, or another of the server's. */
interface GrpcService {
  readonly name: string;
  readonly methods: Readonly<Record<string, GrpcMethod>>;
}

interface GrpcMethod {
  readonly unary: boolean;
  readonly accept: (call: Call) => ConnectionHandler | Refusal;
}

function handlerOf({ unary, accept }: GrpcMethod): UntypedServiceImplementation[string] {
  return unary
    ? (call: ServerUnaryCall<Buffer, TwoParts>, respond: sendUnaryData<TwoParts>) => serveUnary(call, respond, accept)
    : (call: ServerDuplexStream<Buffer, TwoParts>) => serveStream(call, accept);
}

function* discoveryServices(types: ResourceTypes, accept: Accept): Iterable<GrpcService> {
  for (const [name, methods] of discoveryMethods(types)) {
    const served: Record<string, GrpcMethod> = {};
    for (const [methodName, method] of methods) {
      served[methodName] = { unary: method.unary, accept: (call) => accept({ ...call, method }) };
    }
    yield { name, methods: served };
  }
}
