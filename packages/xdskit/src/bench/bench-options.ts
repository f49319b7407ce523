import type { FleetOptions } from "@xdskit/fleet";
import type { TlsOptions } from "../settings/options/tls-options.js";

/** The options of `bench`: the fleet, how to reach the servers, and the form of the report. */
export interface BenchOptions extends Omit<FleetOptions, "tls" | "userAgent">, TlsOptions {
  readonly json: boolean;
}
