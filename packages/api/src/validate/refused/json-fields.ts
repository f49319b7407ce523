import { keysOfStep } from "../../text/source-document.js";

export type JsonFields = { readonly [key: string]: unknown };

/** Whether a message in JSON is surely valid. */
export type JsonCheck = (json: JsonFields) => boolean;

/** Reads a field of a message in JSON under either of its names: `lb_policy` and `lbPolicy`. */
export function jsonField(name: string): (json: unknown) => unknown {
  const [, jsonName = name] = keysOfStep(name);
  return (json) => {
    if (typeof json !== "object" || json === null) return undefined;
    const fields = json as { readonly [key: string]: unknown };
    return fields[name] ?? fields[jsonName];
  };
}

/** The fields that the checks read, by name. */
export const get = {
  address: jsonField("address"),
  addressPrefix: jsonField("address_prefix"),
  addressSuffix: jsonField("address_suffix"),
  apiListener: jsonField("api_listener"),
  append: jsonField("append"),
  applicationProtocols: jsonField("application_protocols"),
  body: jsonField("body"),
  cidrRanges: jsonField("cidr_ranges"),
  cluster: jsonField("cluster"),
  clusterHeader: jsonField("cluster_header"),
  commonTlsContext: jsonField("common_tls_context"),
  connectConfig: jsonField("connect_config"),
  defaultFilterChain: jsonField("default_filter_chain"),
  destinationIp: jsonField("destination_ip"),
  destinationPort: jsonField("destination_port"),
  destinationPortRange: jsonField("destination_port_range"),
  directResponse: jsonField("direct_response"),
  directSourcePrefixRanges: jsonField("direct_source_prefix_ranges"),
  endpoints: jsonField("endpoints"),
  filterChainMatch: jsonField("filter_chain_match"),
  filterChains: jsonField("filter_chains"),
  filters: jsonField("filters"),
  header: jsonField("header"),
  httpFilters: jsonField("http_filters"),
  inlineBytes: jsonField("inline_bytes"),
  inlineString: jsonField("inline_string"),
  internalAddressConfig: jsonField("internal_address_config"),
  lbEndpoints: jsonField("lb_endpoints"),
  loadAssignment: jsonField("load_assignment"),
  name: jsonField("name"),
  originalIpDetectionExtensions: jsonField("original_ip_detection_extensions"),
  pipe: jsonField("pipe"),
  prefixLen: jsonField("prefix_len"),
  prefixRanges: jsonField("prefix_ranges"),
  protocol: jsonField("protocol"),
  routes: jsonField("routes"),
  serverNames: jsonField("server_names"),
  socketAddress: jsonField("socket_address"),
  sourcePorts: jsonField("source_ports"),
  sourcePrefixRanges: jsonField("source_prefix_ranges"),
  sourceType: jsonField("source_type"),
  stripAnyHostPort: jsonField("strip_any_host_port"),
  stripMatchingHostPort: jsonField("strip_matching_host_port"),
  suffixLen: jsonField("suffix_len"),
  tlsCertificateSdsSecretConfigs: jsonField("tls_certificate_sds_secret_configs"),
  tlsCertificates: jsonField("tls_certificates"),
  transportProtocol: jsonField("transport_protocol"),
  trustedCa: jsonField("trusted_ca"),
  typedConfig: jsonField("typed_config"),
  upgradeConfigs: jsonField("upgrade_configs"),
  upgradeType: jsonField("upgrade_type"),
  validationContext: jsonField("validation_context"),
  virtualHosts: jsonField("virtual_hosts"),
  weight: jsonField("weight"),
};
