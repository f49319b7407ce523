import { useEffect, useState } from "preact/hooks";
import { get } from "./request.js";
import type { ServerPorts } from "./types.js";

/** Where clients reach the server; undefined: that is not known yet. */
export function usePorts(): ServerPorts | undefined {
  const [ports, setPorts] = useState<ServerPorts | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    get<ServerPorts>("server", abort.signal).then(setPorts, () => {});
    return () => abort.abort();
  }, []);
  return ports;
}
