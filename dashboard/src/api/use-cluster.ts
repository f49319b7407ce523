import type { SourceList } from "./types.js";
import { type Pace, useLive } from "./use-live.js";

/** What the server says of its Kubernetes cluster; `none`: it serves none; undefined: it has not answered yet. */
export function useCluster(pace?: Pace) {
  const { data, error } = useLive<SourceList>("sources", pace);
  return { cluster: data && (data.sources.find(({ name }) => name === "kubernetes") ?? ("none" as const)), error };
}
