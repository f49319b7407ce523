import type { AnySourceStatus } from "@xdskit/admin/listener";
import { logFinding } from "@xdskit/admin/log";
import {
  type Finding,
  findingText,
  printable,
  type ReadResourcesOptions,
  type Resource,
  type Where,
} from "@xdskit/api";
import type { ServerOptions } from "@xdskit/server";
import type { KubernetesSource, KubernetesStatus } from "@xdskit/source-kubernetes";
import { ownState } from "../../daemon/revisions/state.js";
import type { Serving } from "../../daemon/serving.js";
import { counted } from "../../output/counts.js";
import type { OfCluster } from "../../settings/load-settings.js";
import type { Settings } from "../../settings/schema.js";
import { whereServed } from "../../settings/server-settings.js";
import type { KubernetesSettings } from "../options/serve-options.js";

/** The answer of `/api/v1/sources` about a cluster. */
interface ClusterStatus extends AnySourceStatus {
  readonly state: KubernetesStatus["state"];
  readonly services: number;
  /** What is served is what the cluster had then, or later; null: nothing is served yet. */
  readonly asOf: string | null;
  readonly servers: readonly { readonly server: string; readonly connected: boolean; readonly active: boolean }[];
}

/** The Services of a Kubernetes cluster, as `serve` serves them. */
export interface ServedCluster {
  readonly source: KubernetesSource;
  readonly addsToSettings: OfCluster;
  /** Of the server. */
  readonly localityTypes: ServerOptions["localityTypes"];
  /** Of the server, too. */
  readonly reviewToken: ServerOptions["reviewToken"];
  /** The API server. */
  readonly server: string;
  /** What the state of a server that serves no folder is called. */
  readonly ownState: string;
  /** How files in ConfigMaps are read. */
  readsWith(options: ReadResourcesOptions): void;
  whereIs(settings: Settings, group: string, resource: Pick<Resource, "type" | "key">): Where | undefined;
  status(findings: readonly Finding[]): ClusterStatus;
  counts(): readonly string[];
}

/**
 * Makes the source, and logs when the API server is away and when it is back. Rejects with XDSKIT_KUBECONFIG if nobody
 * says where the server is.
 */
export async function servedCluster(
  settings: KubernetesSettings,
  allowPartial: boolean,
  serving: Serving,
): Promise<ServedCluster> {
  const { sharedLog: log } = serving;
  // Loaded only for those who serve a cluster.
  const { configMapLayer, connectToKubernetes, createKubernetesSource, createTokenReview, kubernetesLocalityTypes } =
    await import("@xdskit/source-kubernetes");
  const connection = await connectToKubernetes({ kubeconfig: settings.kubeconfig });
  const server = connection.server.origin;
  if (!connection.isChecked) {
    const fields = { server, file: connection.from };
    log.warn("kubernetes-unchecked", fields, "insecure-skip-tls-verify: whoever answers there gets the credentials");
  }
  let reported: string | undefined;
  let known: ReadonlyMap<string, Finding> = new Map();
  let read: ReadResourcesOptions = {};
  const source: KubernetesSource = createKubernetesSource({
    connection,
    namespaces: settings.namespaces,
    selector: settings.selector,
    configMaps: settings.configMaps,
    read: () => read,
    allowPartial,
    tlsSecrets: settings.tlsSecrets,
    gatewayApi: settings.gatewayApi,
    writesEvents: settings.writesEvents,
    onStatus({ state, failure, services, findings }) {
      const found = new Map(findings.map((finding) => [findingText(finding), finding]));
      for (const [text, finding] of found) if (!known.has(text)) logFinding(log, finding);
      known = found;
      if (state === "pending" && findings.some(({ severity }) => severity === "error")) serving.announceAdmin();
      if (failure === reported) return;
      reported = failure;
      if (failure === undefined) {
        log.info("kubernetes-back", { server, services }, "the API server of Kubernetes answers again");
        return;
      }
      const then = state === "pending" ? "nothing is served until it answers" : "what it said last is served";
      log.error("kubernetes-away", { server, reason: printable(failure) }, then);
      if (state === "pending") serving.announceAdmin();
    },
  });
  let isReviewing = true;
  const reviewToken = createTokenReview({
    connection,
    failed(error) {
      if (isReviewing === (error === undefined)) return;
      isReviewing = error === undefined;
      if (error === undefined) log.info("token-review-back", { server }, "tokens of pods are reviewed again");
      else {
        const then = "tokens that were good hold until they end, and others are refused";
        log.error("token-review-failed", { server, reason: printable(error.message) }, then);
      }
    },
  });
  return {
    source,
    server,
    reviewToken,
    localityTypes: kubernetesLocalityTypes,
    addsToSettings: {
      lowest: source.name,
      hasSecrets: settings.tlsSecrets !== undefined,
      configMaps: settings.configMaps === undefined ? undefined : configMapLayer,
    },
    readsWith(options) {
      read = options;
    },
    ownState: ownState("kubernetes", server),
    whereIs: (now, group, resource) => whereServed(now, group, (layer) => source.whereIs?.(layer, resource)),
    status(findings) {
      const { state, asOf, lastApplied, lastError, services, findings: own } = source.status();
      const isConnected = state === "connected";
      return {
        name: source.name,
        state,
        services,
        findings: [...own, ...findings],
        asOf: asOf?.toISOString() ?? null,
        servers: [{ server, connected: isConnected, active: isConnected }],
        lastError: lastError && { at: lastError.at.toISOString(), message: printable(lastError.message) },
        lastApplied: lastApplied?.toISOString() ?? null,
      };
    },
    counts: () => [`Kubernetes at ${server}: ${counted(source.status().services, "Service")}`],
  };
}
