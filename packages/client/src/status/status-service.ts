import { setImmediate as turn } from "node:timers/promises";
import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  StatusBuilder,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { createRedactedBody, maxSmallBody } from "@xdskit/api";
import {
  type ClientStatusRequest,
  ClientStatusRequestSchema,
  type ClientStatusResponse,
  ClientStatusResponseSchema,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { fieldBytes } from "@xdskit/api/wire";
import type { XdsClient } from "../contract/xds-client.js";
import { checkClientCall, checkClients } from "../options/option-tables.js";
import type { StatusOptions } from "../options/status-options.js";
import { clientConfigParts } from "./client-config.js";

/**
 * Client status discovery (CSDS, A40), for a server of `@grpc/grpc-js`: `server.addService(service.definition,
 * service.implementation)`.
 */
export interface StatusService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /**
   * The answer. Secrets in contents, metadata and errors are hidden. Rejects with an Error if it would be too large.
   */
  read(options?: { readonly contents?: boolean }): Promise<ClientStatusResponse>;
}

/** The number of answers that may be built at once. Few people look at the same time. */
const maxAtOnce = 4;

/**
 * Shows the resources that clients ask for, have and rejected, with a `ClientConfig` for each client. Keeps no state.
 * Throws an XdskitError (XDSKIT_CLIENT_OPTION) that names an argument that is wrong.
 */
export function createStatusService(
  clients: XdsClient | readonly XdsClient[],
  options: StatusOptions = {},
): StatusService {
  checkClientCall("createStatusService", options);
  const { registry, maxBytes = 64 * 1024 * 1024 } = options;
  // A list may grow.
  const all = (): readonly XdsClient[] => (Array.isArray(clients) ? clients : [clients as XdsClient]);
  checkClients("createStatusService", all());
  const redacted = createRedactedBody(registry);
  let busy = 0;

  async function answer(contents: boolean): Promise<Buffer> {
    const configs: Uint8Array[] = [];
    let bytes = 0;
    for (const client of all()) {
      const parts: Uint8Array[] = [];
      for (const part of clientConfigParts(client, contents ? redacted : undefined)) {
        parts.push(part);
        bytes += part.byteLength;
        if (bytes > maxBytes) {
          const hint = contents ? ": ask without contents (exclude_resource_contents)" : "";
          throw failure(status.RESOURCE_EXHAUSTED, `the answer has more than ${maxBytes} bytes${hint}`);
        }
        await turn();
      }
      configs.push(fieldBytes(1, Buffer.concat(parts)));
    }
    return Buffer.concat(configs);
  }

  async function respond(bytes: Buffer): Promise<Buffer> {
    const { excludeResourceContents } = readRequest(bytes);
    if (busy >= maxAtOnce) throw failure(status.RESOURCE_EXHAUSTED, `${busy} answers are being made: try again later`);
    busy += 1;
    try {
      return await answer(!excludeResourceContents);
    } finally {
      busy -= 1;
    }
  }

  function fetch({ request }: ServerUnaryCall<Buffer, Buffer>, answered: sendUnaryData<Buffer>): void {
    respond(request).then(
      (bytes) => answered(null, bytes),
      (error: unknown) => answered(asStatus(error)),
    );
  }

  function stream(call: ServerDuplexStream<Buffer, Buffer>): void {
    call.on("data", (request: Buffer) => {
      // The next request is read after the answer to the one before.
      call.pause();
      respond(request).then(
        (bytes) => {
          if (call.write(bytes)) call.resume();
          else call.once("drain", () => call.resume());
        },
        (error: unknown) => call.emit("error", asStatus(error)),
      );
    });
    call.on("end", () => call.end());
  }

  return {
    definition,
    implementation: { FetchClientStatus: fetch, StreamClientStatus: stream },
    read: async ({ contents = true } = {}) => fromBinary(ClientStatusResponseSchema, await answer(contents)),
  };
}

const asIs = (bytes: Buffer): Buffer => bytes;
const method = (name: string, isStream: boolean) => ({
  path: `/envoy.service.status.v3.ClientStatusDiscoveryService/${name}`,
  requestStream: isStream,
  responseStream: isStream,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
});
const definition: ServiceDefinition = {
  FetchClientStatus: method("FetchClientStatus", false),
  StreamClientStatus: method("StreamClientStatus", true),
};

/** As gRPC's clients do (A40), it refuses a request for other nodes. */
function readRequest(bytes: Buffer): ClientStatusRequest {
  if (bytes.byteLength > maxSmallBody) throw failure(status.RESOURCE_EXHAUSTED, "the request is too large");
  let request = create(ClientStatusRequestSchema);
  try {
    request = fromBinary(ClientStatusRequestSchema, bytes);
  } catch {
    throw failure(status.INVALID_ARGUMENT, "malformed client status request");
  }
  if (request.nodeMatchers.length === 0) return request;
  throw failure(status.INVALID_ARGUMENT, "node_matchers: a client tells of itself alone");
}

/** An error that ends a call with its status. */
class CallFailure extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

const failure = (code: status, message: string) => new CallFailure(code, message);

function asStatus(error: unknown) {
  const known = error instanceof CallFailure ? error : failure(status.INTERNAL, "internal error");
  return new StatusBuilder().withCode(known.code).withDetails(known.message).build();
}
