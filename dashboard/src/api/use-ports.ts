import { useEffect, useState } from "preact/hooks";
import { get } from "./request.js";
import type { ServerPorts } from "./types.js";

/** Where clients reach the server over gRPC. */
export type GrpcPort = Pick<ServerPorts, "grpc" | "tls">;

/** Where clients usually reach a server. */
export const usualPort = { grpc: "0.0.0.0:18000", tls: "off" } as const satisfies GrpcPort;

/** What `serve --name` calls the server; empty: nothing, or it has not answered yet. */
export function useServerName(): string {
  const server = useServer();
  return server === undefined || server === "away" ? "" : (server.name ?? "");
}

/** Where clients reach the server; undefined: the server has not answered yet. Where it cannot, the usual port. */
export function usePorts(): GrpcPort | undefined {
  const server = useServer();
  return server === "away" ? usualPort : server;
}

/** What the server says of itself; undefined: it has not answered yet. */
function useServer(): ServerPorts | "away" | undefined {
  const [server, setServer] = useState<ServerPorts | "away" | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    get<ServerPorts>("server", abort.signal).then(setServer, () => {
      if (!abort.signal.aborted) setServer("away");
    });
    return () => abort.abort();
  }, []);
  return server;
}
