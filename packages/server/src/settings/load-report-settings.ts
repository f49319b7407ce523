import { type Finding, throwIfAny } from "@xdskit/api";

/** The load that clients are asked to report (LRS). All fields may be left out. */
export interface LoadReportSettings {
  /**
   * Milliseconds between two reports of a client, at least 100. Default 10,000. gRPC clients report at most once a
   * second, whatever is asked for.
   */
  readonly intervalMs: number;
  /** Names of clusters, or all that the client has. Default `all`. */
  readonly clusters: "all" | readonly string[];
  /**
   * Whether each endpoint is reported besides its locality. Default false: it multiplies the reports and the memory
   * for them.
   */
  readonly endpoints: boolean;
}

/** Every 10 s, of all clusters, by locality. */
export const defaultLoadReportSettings: LoadReportSettings = { intervalMs: 10_000, clusters: "all", endpoints: false };

/** The settings of a group: its own, then those of the server, then the defaults. */
export function settingsOf(...layers: readonly (Partial<LoadReportSettings> | undefined)[]): LoadReportSettings {
  const settings = { ...defaultLoadReportSettings };
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {}))
      if (value !== undefined) Object.assign(settings, { [key]: value });
  }
  return settings;
}

/** Throws an XdskitError that lists everything wrong with settings. `field` is their path. */
export function checkLoadReportSettings(settings: Partial<LoadReportSettings> | undefined, field: string): void {
  const findings: Finding[] = [];
  const add = (name: string, message: string) =>
    findings.push({ code: "XDSKIT_LOAD_REPORTS_INVALID", severity: "error", field: `${field}.${name}`, message });
  const { intervalMs, clusters } = settings ?? {};
  if (intervalMs !== undefined && !(intervalMs >= shortestMs && intervalMs <= longestMs)) {
    add(
      "intervalMs",
      `the interval of load reports must be between ${shortestMs} ms and ${longestMs / 86_400_000} days`,
    );
  }
  // gRPC's Go client takes an empty list for all clusters, and Envoy for none.
  if (Array.isArray(clusters) && clusters.length === 0) add("clusters", "the list of clusters to report is empty");
  throwIfAny(findings);
}

/** gRPC's Go client does not survive an interval of 0. */
const shortestMs = 100;
const longestMs = 30 * 86_400_000;
