import { judgeRegex } from "./regex.js";
import { isSpecial, programLimit } from "./special-checks.js";

type JsonFields = { readonly [key: string]: unknown };

/** Whether a message in JSON is surely well. */
export type JsonCheck = (json: JsonFields) => boolean;

/** A check, and the keys of what it looks at; undefined where that is nearly all of a message. */
interface KeyedCheck {
  readonly keys: readonly string[] | undefined;
  readonly check: JsonCheck;
}

const regex: KeyedCheck = { keys: ["regex", "google_re2", "googleRe2"], check: checkRegex };

/** The checks of `special-checks.ts`, for messages in JSON: those say what is wrong, these that something may be. */
const checks: { readonly [typeName: string]: KeyedCheck } = {
  "envoy.type.matcher.v3.RegexMatcher": regex,
  "xds.type.matcher.v3.RegexMatcher": regex,
  "envoy.config.route.v3.RouteConfiguration": { keys: undefined, check: checkDomains },
  "envoy.config.route.v3.VirtualHost": { keys: ["domains"], check: checkHostDomains },
  "envoy.config.cluster.v3.Cluster": {
    keys: ["type", "eds_cluster_config", "edsClusterConfig"],
    check: checkCluster,
  },
  "envoy.config.listener.v3.Listener": {
    keys: ["address", "api_listener", "apiListener", "internal_listener", "internalListener"],
    check: checkListener,
  },
};

/** The keys of what the check of messages of a type looks at. Undefined where that is nearly all of it. */
export function jsonCheckKeys(typeName: string): readonly string[] | undefined {
  return checks[typeName]?.keys;
}

/** The check of messages of a type; `unknown` where only the message itself can be checked, undefined where there is none. */
export function jsonCheckOf(typeName: string): JsonCheck | "unknown" | undefined {
  return isSpecial(typeName) ? (checks[typeName]?.check ?? "unknown") : undefined;
}

function checkRegex({ regex, google_re2, googleRe2 }: JsonFields): boolean {
  const engine = google_re2 ?? googleRe2;
  if (typeof regex !== "string" || (engine !== undefined && !isEmpty(engine))) return false;
  const verdict = judgeRegex(regex);
  return verdict.kind === "valid" && verdict.size <= programLimit;
}

function checkDomains({ virtual_hosts, virtualHosts }: JsonFields): boolean {
  const hosts = virtual_hosts ?? virtualHosts;
  if (!Array.isArray(hosts)) return hosts === undefined;
  const seen = new Set<string>();
  let count = 0;
  for (const host of hosts) {
    const domains: unknown = host?.domains;
    if (!Array.isArray(domains)) return false;
    for (const domain of domains) {
      if (typeof domain !== "string") return false;
      seen.add(domain.toLowerCase());
    }
    count += domains.length;
  }
  return seen.size === count;
}

function checkHostDomains({ domains }: JsonFields): boolean {
  if (!Array.isArray(domains)) return domains === undefined;
  return domains.length < 2 || checkDomains({ virtual_hosts: [{ domains }] });
}

function checkCluster({ type, eds_cluster_config, edsClusterConfig }: JsonFields): boolean {
  if (type !== "EDS" && type !== 3) return true;
  const config = eds_cluster_config ?? edsClusterConfig;
  if (typeof config !== "object" || config === null) return false;
  const { eds_config, edsConfig } = config as JsonFields;
  return isSet(eds_config ?? edsConfig);
}

function checkListener(json: JsonFields): boolean {
  const { address, api_listener, apiListener, internal_listener, internalListener } = json;
  return isSet(address ?? api_listener ?? apiListener ?? internal_listener ?? internalListener);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
