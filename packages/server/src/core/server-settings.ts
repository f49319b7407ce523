import { type Clock, type ResourceTypes, resourceTypes, systemClock } from "@xdskit/api";
import { defaultKeepalive, type Keepalive } from "@xdskit/grpc-server";
import { checkOptions } from "../configuration/option-checks.js";
import { checkServerCall } from "../configuration/option-tables.js";
import type { LiveOptions } from "../contracts/kernel-options.js";
import type { ServerOptions } from "../contracts/server-options.js";
import { defaultServerLimits, type ServerLimits } from "../settings/limits.js";
import { checkLoadReportSettings } from "../settings/load-report-settings.js";
import { defaultRestOptions, type RestOptions } from "../settings/rest-options.js";

/** The options of a server, with the defaults filled in. */
export interface FullServerOptions {
  /** As they were given. */
  readonly options: ServerOptions;
  readonly types: ResourceTypes;
  /** Some change while the server runs. */
  readonly limits: ServerLimits;
  readonly keepalive: Keepalive;
  readonly rest: RestOptions;
  /** Undefined: all are served. */
  readonly authorities: ReadonlySet<string> | undefined;
  /** Those that change while the server runs, as they are now. */
  live: LiveOptions;
  readonly clock: Clock;
}

/** Checks the options and fills in the defaults. */
export function readOptions(options: ServerOptions): FullServerOptions {
  checkServerCall("createServer", options);
  checkOptions(options);
  checkLoadReportSettings(options.loadReports || undefined, "loadReports");
  const { identities, groups, rollout, onReject, ordering, references, referencesExcept } = options;
  return {
    options,
    types: options.types ?? resourceTypes,
    limits: { ...defaultServerLimits, ...options.limits } as ServerLimits,
    keepalive: { ...defaultKeepalive, ...options.keepalive },
    rest: { ...defaultRestOptions, ...options.rest },
    authorities: options.authorities === undefined ? undefined : new Set(options.authorities),
    live: { identities, groups, rollout, onReject, ordering, references, referencesExcept },
    clock: options.clock ?? systemClock,
  };
}
