const page = "https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol";

/** Places in the protocol's document, by what they are about. */
export const documents = {
  overview: `${page}#basic-protocol-overview`,
  versions: `${page}#xds-ack-nack`,
  nack: `${page}#ack-and-nack-semantics-summary`,
  updates: `${page}#xds-protocol-resource-update`,
  names: `${page}#xds-protocol-resource-hints`,
  grouping: `${page}#grouping-resources-into-responses`,
  duplicates: `${page}#duplicate-resource-names`,
  deleting: `${page}#deleting-resources`,
  absence: `${page}#knowing-when-a-requested-resource-does-not-exist`,
  unsubscribing: `${page}#xds-protocol-unsubscribing`,
  hints: `${page}#resource-updates`,
  ordering: `${page}#eventual-consistency-considerations`,
  ads: `${page}#aggregated-discovery-service`,
  services: `${page}#rpc-services-and-methods-for-each-variant`,
  delta: `${page}#xds-protocol-delta`,
  deltaSubscribing: `${page}#subscribing-to-resources`,
  many: `${page}#requesting-multiple-resources-on-a-single-stream`,
  request: "https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/discovery/v3/discovery.proto",
} as const;
