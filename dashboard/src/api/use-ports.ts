import { useEffect, useState } from "preact/hooks";
import { get } from "./request.js";
import type { ServerPorts } from "./types.js";

/** Where clients reach the server over gRPC. */
export type GrpcPort = Pick<ServerPorts, "grpc" | "tls">;

/** Where clients usually reach a server. */
export const usualPort = { grpc: "0.0.0.0:18000", tls: "off" } as const satisfies GrpcPort;

/** What `serve --name` calls the server; empty: nothing, or it has not answered yet. */
export function useServerName(): string {
  const [name, setName] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    get<ServerPorts>("server", abort.signal).then(
      (server) => setName(server.name ?? ""),
      () => {},
    );
    return () => abort.abort();
  }, []);
  return name;
}

/** Where clients reach the server; undefined: the server has not answered yet. Where it cannot, the usual port. */
export function usePorts(): GrpcPort | undefined {
  const [ports, setPorts] = useState<GrpcPort | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    get<ServerPorts>("server", abort.signal).then(setPorts, () => {
      if (!abort.signal.aborted) setPorts(usualPort);
    });
    return () => abort.abort();
  }, []);
  return ports;
}
