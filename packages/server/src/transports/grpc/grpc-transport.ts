import { type ResourceTypes, snakeCase } from "@xdskit/api";
import type { GrpcServer, GrpcServerOptions } from "@xdskit/grpc-server";
import {
  createGrpcServer,
  type GrpcLimits,
  type GrpcMethod,
  type GrpcRequest,
  type Keepalive,
} from "@xdskit/grpc-server";
import type { StatusCode } from "@xdskit/protocol";
import { formatAddress } from "../../basics/address.js";
import type { Accept, ServedService, Transport } from "../../contracts/transport.js";
import { type Evidence, evidenceFrom } from "../../identity/evidence.js";
import { defaultServerLimits } from "../../settings/limits.js";
import type { Renewable } from "../../tls/server-tls.js";
import { discoveryMethods } from "../discovery-methods.js";
import { listenAddress, listenError } from "../listening.js";
import { listenAt } from "../socket-file.js";

/** The options of the gRPC transport. */
export interface GrpcTransportOptions
  extends Pick<GrpcServerOptions, "requestTimeoutMs" | "tls" | "handshakeFailed" | "fault"> {
  readonly types: ResourceTypes;
  readonly keepalive: Keepalive;
  /** The largest request, in bytes; a larger one ends its stream with RESOURCE_EXHAUSTED. */
  readonly requestBytes: number;
  /** The limits of a connection and of an address. Default: the limits of a server. */
  readonly limits?: Omit<GrpcLimits, "requestBytes"> | undefined;
  /**
   * Called for a call that was refused or ended because of its client, before the server was told. Default: nothing is
   * called.
   */
  readonly refused?: ((peer: string, code: StatusCode, message: string) => void) | undefined;
}

/**
 * A transport that can also listen on a socket that was bound elsewhere. If it began in plaintext, `renew` does
 * nothing.
 */
export interface SocketTransport extends Transport, Renewable, Pick<GrpcServer, "connections" | "askToGo" | "servers"> {
  /** `descriptor`: of a bound socket, which then belongs to the transport. */
  listen(...at: [...Parameters<Transport["listen"]>, descriptor?: number]): Promise<string>;
}

/**
 * Discovery over gRPC: ADS and all per-type services of the table of types, SotW and delta, v2 and v3, and the unary
 * `Fetch…`; and the server's other services. Nothing is decoded here. Methods that do not exist answer UNIMPLEMENTED.
 */
export function createGrpcTransport(options: GrpcTransportOptions): SocketTransport {
  const { types, requestBytes, limits = defaultServerLimits, refused } = options;
  const methods = new Map<string, GrpcMethod>();
  const server = createGrpcServer({
    ...options,
    methods,
    limits: { ...limits, requestBytes },
    limitName,
    refused: refused && ((peer, code, message) => refused(peer, code as StatusCode, message)),
  });
  return {
    servers: server.servers,
    get connections() {
      return server.connections;
    },
    askToGo: (count) => server.askToGo(count),
    async listen(address, accept, services, descriptor) {
      const at = listenAddress(address);
      if (methods.size === 0) {
        addDiscovery(methods, types, accept);
        addServices(methods, services);
      }
      try {
        const port = await listenAt(at, () => server.listen(descriptor === undefined ? at : { descriptor }));
        return formatAddress("path" in at ? { path: at.path } : { ...at, port });
      } catch (error) {
        throw listenError(address, error as Error);
      }
    },
    close: (timeoutMs) => server.close(timeoutMs),
    renew: (tls) => server.renew(tls),
  };
}

/** The name as in settings, which operators know: `limits.streams_per_address`. */
function limitName(limit: string): string {
  return `limits.${snakeCase(limit)}`;
}

function addDiscovery(methods: Map<string, GrpcMethod>, types: ResourceTypes, accept: Accept): void {
  for (const [service, served] of discoveryMethods(types)) {
    for (const [name, method] of served) {
      methods.set(`/${service}/${name}`, {
        unary: method.unary,
        accept(call, request) {
          const { peer } = request;
          const evidence = evidenceOf(request);
          return accept(Object.assign(call, { method, identity: () => peer.identity(), evidence }));
        },
      });
    }
  }
}

function addServices(methods: Map<string, GrpcMethod>, services: readonly ServedService[]): void {
  for (const service of services) {
    for (const [name, method] of Object.entries(service.methods)) {
      methods.set(`/${service.name}/${name}`, {
        unary: method.unary,
        accept: (call, request) => method.accept(Object.assign(call, { evidence: evidenceOf(request) })),
      });
    }
  }
}

/** The server keeps no request: what is needed of it is taken at once. */
function evidenceOf(request: GrpcRequest): () => Evidence {
  const { peer } = request;
  const authorization = request.headers.get("authorization");
  return () => evidenceFrom(peer, authorization);
}
