import { Server, ServerCredentials } from "@grpc/grpc-js";
import { XdskitError } from "@xdskit/api";
import type { XdsClient } from "../contract/xds-client.js";
import type { StatusOptions } from "../options/status-options.js";
import { createStatusService } from "./status-service.js";

/** A port where programs such as `xdskit status` can inspect this client. */
export interface ServedStatus {
  /** `HOST:PORT`, with the port that was picked. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves client status (CSDS) over gRPC, in plaintext and to everybody who can connect: listen on loopback, or add the
 * service to your own server with `createStatusService`. `address` is `HOST:PORT` or `unix:/PATH`; port 0 picks a free
 * one. Rejects with an XdskitError (XDSKIT_ADDRESS_UNAVAILABLE, XDSKIT_ADDRESS_INVALID, XDSKIT_CLIENT_OPTION).
 */
export async function serveStatus(
  clients: XdsClient | readonly XdsClient[],
  address: string,
  options: StatusOptions = {},
): Promise<ServedStatus> {
  if (typeof address !== "string" || !/^unix:|:\d+$/.test(address))
    throw XdskitError.of(
      "XDSKIT_ADDRESS_INVALID",
      "serveStatus takes HOST:PORT or unix:/PATH, such as 127.0.0.1:19000",
    );
  const server = new Server({ "grpc.max_send_message_length": -1 });
  const { definition, implementation } = createStatusService(clients, options);
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(XdskitError.of("XDSKIT_ADDRESS_UNAVAILABLE", `${address}: ${error.message}`, {}, { cause: error }));
    });
  });
  return {
    address: address.replace(/:\d+$/, `:${port}`),
    close: async () => server.forceShutdown(),
  };
}
