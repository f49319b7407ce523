import { useCluster } from "../api/use-cluster.js";
import { views } from "./views.js";

/** The views of this server: Services only where it serves a cluster, which no edit of settings changes. */
export function useViews() {
  const { cluster = "none" } = useCluster("once");
  return views.filter(([one]) => one !== "services" || cluster !== "none");
}
