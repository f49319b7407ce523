import { typeNameOf } from "../../messages/any.js";
import { isNumericAddress } from "./addresses.js";
import { lastFilters } from "./filters.js";
import type { JsonCheck, JsonFields } from "./json-fields.js";
import { get, jsonField } from "./json-fields.js";
import { jsonListenerCheck } from "./json-listeners.js";
import { hasLostPercent, isProtected } from "./route-headers.js";
import { usualBodySize } from "./routes.js";

/**
 * Whether Envoy surely does not refuse a message in JSON. The rules in `rules.ts` say what is wrong; these say only
 * that something may be.
 */

const route = "envoy.config.route.v3";
const manager = "envoy.extensions.filters.network.http_connection_manager.v3";
const tls = "envoy.extensions.transport_sockets.tls.v3";

/** Checks for messages that are read from values, as most nested messages are. */
export const jsonRefusalChecks: { readonly [typeName: string]: JsonCheck } = {
  "envoy.config.cluster.v3.LoadBalancingPolicy": (json) => isFilled(json.policies),
  "envoy.config.listener.v3.Listener": jsonListenerCheck,
  "envoy.config.listener.v3.FilterChain": ({ filters }) => isInOrder(filters),
  [`${manager}.HttpConnectionManager`]: checkManager,
  [`${route}.RouteConfiguration`]: (json) => checkHeaders(json) && checkBodies(json),
  [`${route}.VirtualHost`]: checkHeaders,
  [`${route}.Route`]: checkHeaders,
  [`${route}.WeightedCluster.ClusterWeight`]: checkHeaders,
  [`${route}.WeightedCluster`]: checkWeights,
  [`${route}.RouteAction`]: checkAction,
  [`${route}.RouteAction.RequestMirrorPolicy`]: hasOneTarget,
  [`${route}.VirtualCluster`]: ({ headers }) => isFilled(headers),
  "envoy.config.rbac.v3.Principal": checkPrincipal,
  "envoy.config.rbac.v3.Permission": checkPermission,
  [`${tls}.CommonTlsContext`]: checkTls,
  [`${tls}.UpstreamTlsContext`]: checkUpstreamTls,
  [`${tls}.DownstreamTlsContext`]: checkDownstreamTls,
};

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function isUnset(value: unknown): boolean {
  return value === undefined;
}

/** Whether the terminal filter is the last one. */
function isInOrder(filters: unknown): boolean {
  if (!Array.isArray(filters)) return filters === undefined;
  const last = filters.length - 1;
  return filters.every((filter, index) => {
    const url = (get.typedConfig(filter) as { readonly "@type"?: unknown } | undefined)?.["@type"];
    if (typeof url !== "string") return false;
    const ends = lastFilters.has(typeNameOf(url));
    return ends === (index === last) && !(ends && (filter as { readonly disabled?: unknown }).disabled);
  });
}

function checkManager(json: JsonFields): boolean {
  if (!isInOrder(get.httpFilters(json))) return false;
  if (!isUnset(get.stripMatchingHostPort(json)) && !isUnset(get.stripAnyHostPort(json))) return false;
  if (!isUnset(get.originalIpDetectionExtensions(json))) return false;
  const ranges = get.cidrRanges(get.internalAddressConfig(json));
  if (!isUnset(ranges) && !(Array.isArray(ranges) && ranges.every(isRange))) return false;
  return checkUpgrades(get.upgradeConfigs(json));
}

function isRange(range: unknown): boolean {
  const prefix = get.addressPrefix(range);
  return typeof prefix === "string" && isNumericAddress(prefix);
}

function checkUpgrades(upgrades: unknown): boolean {
  if (!Array.isArray(upgrades)) return upgrades === undefined;
  const types = new Set<string>();
  for (const upgrade of upgrades) {
    const type = get.upgradeType(upgrade);
    if (typeof type !== "string" || !isUnset(get.filters(upgrade))) return false;
    if (!isUnset(get.connectConfig(upgrade))) return false;
    types.add(type.toLowerCase());
  }
  return types.size === upgrades.length;
}

const added = ["request_headers_to_add", "response_headers_to_add"].map(jsonField);
const removed = ["request_headers_to_remove", "response_headers_to_remove"].map(jsonField);

function checkHeaders(json: JsonFields): boolean {
  return (
    added.every((field) => isListOf(field(json), isAddable)) &&
    removed.every((field) => isListOf(field(json), (one) => typeof one === "string" && !isProtected(one)))
  );
}

function isListOf(list: unknown, isWell: (item: unknown) => boolean): boolean {
  return list === undefined || (Array.isArray(list) && list.every(isWell));
}

function isAddable(item: unknown): boolean {
  const { key, value = "" } = (get.header(item) ?? {}) as { readonly key?: unknown; readonly value?: unknown };
  if (typeof key !== "string" || typeof value !== "string" || !isUnset(get.append(item))) return false;
  return !isProtected(key) && !hasLostPercent(value);
}

/** Bodies of direct responses. A character has at most three bytes. */
function checkBodies(json: JsonFields): boolean {
  return isListOf(get.virtualHosts(json), (host) =>
    isListOf(get.routes(host), (one) => {
      const response = get.directResponse(one);
      if (response === undefined) return true;
      const body = get.body(response);
      if (body === undefined) return true;
      const text = get.inlineString(body);
      if (typeof text === "string") return text.length * 3 <= usualBodySize;
      return isUnset(get.inlineBytes(body));
    }),
  );
}

function checkWeights({ clusters }: JsonFields): boolean {
  if (!isFilled(clusters)) return false;
  let sum = 0;
  for (const one of clusters as readonly unknown[]) {
    const weight = get.weight(one);
    const name = get.name(one);
    if (typeof weight !== "number" || typeof name !== "string" || name === "") return false;
    if (!isUnset(get.clusterHeader(one))) return false;
    sum += weight;
  }
  return sum > 0 && sum <= 0xffff_ffff;
}

const rewrites = ["prefix_rewrite", "regex_rewrite", "path_rewrite_policy"].map(jsonField);

function checkAction(json: JsonFields): boolean {
  if (rewrites.filter((field) => !isUnset(field(json))).length > 1) return false;
  return checkUpgrades(get.upgradeConfigs(json));
}

function hasOneTarget(json: JsonFields): boolean {
  const targets = [get.cluster(json), get.clusterHeader(json)].filter((one) => one !== undefined);
  return targets.length === 1 && typeof targets[0] === "string" && targets[0] !== "";
}

const sources = ["source_ip", "direct_remote_ip", "remote_ip"].map(jsonField);

function checkPrincipal(json: JsonFields): boolean {
  return sources.every((field) => {
    const range = field(json);
    return range === undefined || isRange(range);
  });
}

function checkPermission(json: JsonFields): boolean {
  const range = get.destinationIp(json);
  return (range === undefined || isRange(range)) && isUnset(get.destinationPortRange(json));
}

function checkTls(json: JsonFields): boolean {
  const context = get.validationContext(json);
  return context === undefined || get.trustedCa(context) !== undefined;
}

function certificatesIn(json: JsonFields): readonly unknown[] {
  const context = get.commonTlsContext(json);
  const own = get.tlsCertificates(context) ?? [];
  const secrets = get.tlsCertificateSdsSecretConfigs(context) ?? [];
  return [own, secrets].map((list) => (Array.isArray(list) ? list.length : Number.NaN));
}

function checkUpstreamTls(json: JsonFields): boolean {
  return certificatesIn(json).every((count) => count === 0 || count === 1);
}

function checkDownstreamTls(json: JsonFields): boolean {
  return certificatesIn(json).some((count) => (count as number) > 0);
}
