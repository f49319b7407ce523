/** Client status discovery of v3. */
export const clientStatusServiceName = "envoy.service.status.v3.ClientStatusDiscoveryService";

/** The feature (`node.client_features`) with which a client asks for a summary: the message has no field for it. */
export const summaryFeature = "xdskit.status.summary";

/** The feature with which it asks for the revisions of each node, too. Older clients would take them for a type. */
export const revisionsFeature = "xdskit.status.revisions";
