import { XdskitError } from "@xdskit/api";
import type { FullServerSettings, ServerSettings } from "./client-options.js";
import { checkServer } from "./option-tables.js";

const kinds = { grpc: true, rest: true, files: true };

/** The settings of a server in full. Throws an XdskitError (XDSKIT_CLIENT_OPTION) for wrong settings. */
export function fullSettings(server: ServerSettings): FullServerSettings {
  if (typeof server === "string") {
    if (/^https?:\/\//i.test(server)) return fullSettings({ kind: "rest", url: server });
    return fullSettings({ kind: "grpc", address: server });
  }
  if (typeof server === "object" && server !== null && Object.hasOwn(kinds, String(server.kind)))
    checkServer(server.kind, server);
  switch (server?.kind) {
    case "grpc":
      if (!/\S/.test(server.address ?? "")) throw wrongServer("a server over gRPC needs an address: HOST:PORT");
      if (/^https?:\/\//i.test(server.address))
        throw wrongServer("over gRPC the address is HOST:PORT, without http://");
      return server;
    case "rest":
      // The error does not quote the URL: it may hold a password.
      if (!URL.canParse(server.url))
        throw wrongServer("the URL of a server over REST is http://HOST:PORT or https://HOST:PORT");
      return server;
    case "files":
      if (!(server.files?.length > 0)) throw wrongServer("a server of files needs at least one file");
      return server;
    default: {
      const { kind }: { kind?: unknown } = Object(server);
      const example = '"127.0.0.1:18000" or { kind: "grpc", address: "127.0.0.1:18000" }';
      throw wrongServer(`servers are of kind grpc, rest or files, and not ${JSON.stringify(kind)}; write ${example}`);
    }
  }
}

/** Equal for equal lists: authorities with the same servers share them (A47). */
export function keyOfServers(servers: readonly FullServerSettings[]): string {
  return JSON.stringify(servers, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function wrongServer(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", message, { field: "servers" });
}
