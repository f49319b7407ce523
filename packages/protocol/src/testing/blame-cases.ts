/** Names that a response carried. */
export const clusters = ["a", "ab", "b|80||x.y", "x, a: y"];
const positive = "cluster provided LB specified but cluster";
const providedBy = (name: string): string =>
  `${name}: cluster manager: ${positive} '${name}' did not provide one. Check cluster documentation.`;
const garbage = (type: string): string =>
  `Unable to unpack as ${type}: goo.gle/debugproto    \ntype_url: "type.googleapis.com/${type}"\nvalue: "\\n\\177\\001"\n`;

/** A rejection's text, and the resources that it blames. */
export interface BlameCase {
  readonly says: string;
  readonly text: string;
  readonly carried: readonly string[];
  readonly blames: readonly string[] | undefined;
  readonly usesRest?: boolean;
  /** The name contains a list's separators: a reader that does not know the name finds others. */
  readonly isAmbiguous?: boolean;
}

/** As real clients wrote them: Envoy 1.40 with SotW, delta and the unified mux. */
export const envoyCases: readonly BlameCase[] = [
  {
    says: "two clusters, one of which begins as the other",
    text: `Error adding/updating cluster(s) ${providedBy("a")}, ${providedBy("ab")}`,
    carried: clusters,
    blames: ["a", "ab"],
    usesRest: true,
  },
  {
    says: "a cluster of Istio's kind",
    text: `Error adding/updating cluster(s) ${providedBy("b|80||x.y")}`,
    carried: clusters,
    blames: ["b|80||x.y"],
    usesRest: true,
  },
  {
    says: "a cluster whose name looks like the list that it stands in",
    text: `Error adding/updating cluster(s) ${providedBy("x, a: y")}`,
    carried: clusters,
    blames: ["x, a: y"],
    usesRest: true,
    isAmbiguous: true,
  },
  {
    says: "a duplicate cluster",
    text: "Error adding/updating cluster(s) ab: duplicate cluster ab found",
    carried: clusters,
    blames: ["ab"],
    usesRest: true,
  },
  {
    says: "a cluster with a rule broken inside of it",
    text: "Error adding/updating cluster(s) ldns: LOGICAL_DNS clusters must have a single locality_lb_endpoint and a single lb_endpoint",
    carried: ["ldns", "a"],
    blames: ["ldns"],
    usesRest: true,
  },
  {
    says: "a duration, without a name",
    text: "Invalid duration: Expected positive duration: goo.gle/debugproto    \nseconds: -1\n",
    carried: clusters,
    blames: undefined,
  },
  {
    says: "something unreadable, without a name",
    text: garbage("envoy.config.cluster.v3.Cluster"),
    carried: clusters,
    blames: undefined,
  },
  {
    says: "two listeners, a line each",
    text: [
      "Error adding/updating listener(s) in: error adding listener '127.0.0.1:29780': filter chain '' has the same matching rules defined as ''. duplicate matcher is: {}",
      "in2: error adding listener '127.0.0.1:29780': filter chain '' has the same matching rules defined as ''. duplicate matcher is: {}\n",
    ].join("\n"),
    carried: ["in", "in2", "in3"],
    blames: ["in", "in2"],
    usesRest: true,
  },
  {
    says: "a listener whose address another has, which is named in passing",
    text: "Error adding/updating listener(s) in3: error adding listener: 'in3' has duplicate address '127.0.0.1:29780' as existing listener, to check if the listener has duplicated addresses with other listeners or 'enable_reuse_port' is set to 'false' for the listener\n",
    carried: ["in", "in2", "in3"],
    blames: ["in3"],
    usesRest: true,
  },
  {
    says: "a listener, with a message that has lines like those of a listener called `name`",
    text: "Error adding/updating listener(s) in2: An RDS config must have either a 'config_source' or an xDS-TP based 'route_config_name'. Error while parsing RDS config:\ngoo.gle/debugproto    \nname: \"in\"\npriority: 1\nmode: AUTO\n\n",
    carried: ["in", "in2", "name", "priority", "mode"],
    blames: ["in2"],
    usesRest: true,
  },
  {
    says: "a listener that breaks a rule of its proto: nothing of the response is used",
    text: 'goo.gle/debugproto    \nname: "in2"\naddress {\n  socket_address {\n    port_value: 99\n  }\n}\n: Proto constraint validation failed (ListenerValidationError.Address: embedded message failed validation | caused by AddressValidationError.SocketAddress: embedded message failed validation | caused by SocketAddressValidationError.Address: value length must be at least 1 characters)',
    carried: ["in", "in2"],
    blames: ["in2"],
    usesRest: false,
  },
  {
    says: "a load assignment that breaks a rule of its proto",
    text: 'goo.gle/debugonly  \ncluster_name: "ab"\nendpoints {\n  priority: 300\n}\n: Proto constraint validation failed (ClusterLoadAssignmentValidationError.Endpoints[0]: embedded message failed validation | caused by LocalityLbEndpointsValidationError.Priority: value must be less than or equal to 128)',
    carried: clusters,
    blames: ["ab"],
    usesRest: false,
  },
  {
    says: "a scope that breaks a rule of its proto",
    text: 'goo.gle/debugproto    \nname: "s2"\n: Proto constraint validation failed (ScopedRouteConfigurationValidationError.Key: value is required)',
    carried: ["s1", "s2"],
    blames: ["s2"],
    usesRest: false,
  },
  {
    says: "an older Envoy: the message behind the reason",
    text: 'Proto constraint validation failed (ClusterValidationError.ConnectTimeout: ["value must be greater than " "0s"]): name: "ab"\ntype: EDS\nconnect_timeout {\n  seconds: -1\n}\n',
    carried: clusters,
    blames: ["ab"],
    usesRest: false,
  },
  {
    says: "a name that is no plain text",
    text: 'goo.gle/debugproto    \nname: "caf\\303\\251 \\"1\\""\n: Proto constraint validation failed (ClusterValidationError.Name: no)',
    carried: ["a", 'café "1"'],
    blames: ['café "1"'],
    usesRest: false,
  },
  {
    says: "the message of something inside of a resource, which has a name as well",
    text: 'goo.gle/debugproto    \nname: "a"\n: Proto constraint validation failed (HeaderMutationValidationError.Name: no)',
    carried: clusters,
    blames: undefined,
  },
  {
    says: "a route configuration with two wildcards",
    text: "Only a single wildcard domain is permitted in route routes",
    carried: ["routes", "route"],
    blames: ["routes"],
    usesRest: false,
  },
  {
    says: "a route configuration with a domain twice",
    text: "Only unique values for domains are permitted. Duplicate entry of domain a.com in route http.8080",
    carried: ["a.com", "http.8080"],
    blames: ["http.8080"],
    usesRest: false,
  },
  {
    says: "an unknown cluster: `route` is no name here",
    text: "route: unknown cluster 'nowhere'",
    carried: ["route", "nowhere"],
    blames: undefined,
  },
  {
    says: "an unknown cluster, where one resource was carried",
    text: "route: unknown cluster 'nowhere'",
    carried: ["routes"],
    blames: ["routes"],
  },
  {
    says: "an address, without a name",
    text: "malformed IP address: not.an.ip. Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'",
    carried: ["not.an.ip", "STRICT_DNS"],
    blames: undefined,
  },
  {
    says: "a secret, without a name",
    text: "Failed to load private key from <inline>, Cause: error:0b000074:X.509 certificate routines:OPENSSL_internal:KEY_VALUES_MISMATCH",
    carried: ["server", "client"],
    blames: undefined,
  },
  {
    says: "two scopes with one key",
    text: "Error adding/updating scoped route(s): scope key conflict found, first scope is 's1', second scope is 's2'",
    carried: ["s1", "s2", "s3"],
    blames: ["s1", "s2"],
    usesRest: false,
  },
  {
    says: "a script",
    text: "script load error: [string \"this is no lua\"]:1: '=' expected near 'is'",
    carried: ["is", "swapped"],
    blames: undefined,
  },
  {
    says: "a resource that it did not ask for",
    text: "Unexpected EDS cluster (expecting a): ab",
    carried: clusters,
    blames: ["ab"],
    usesRest: false,
  },
  {
    says: "a name that is there twice",
    text: "duplicate name ab found among added/updated resources",
    carried: clusters,
    blames: ["ab"],
    usesRest: false,
  },
];

/** Texts of grpcio 1.85, grpc-go 1.85 and 1.33, grpc-js-xds 1.14 and grpc-java 1.85. */
export const grpcCases: readonly BlameCase[] = [
  {
    says: "C++: two clusters",
    text: "xDS response validation errors: [resource index 0: one: INVALID_ARGUMENT: errors validating Cluster resource: [field:type error:unknown discovery type]; resource index 1: one-b: INVALID_ARGUMENT: errors validating Cluster resource: [field:type error:unknown discovery type]]",
    carried: ["one", "one-b", "two"],
    blames: ["one", "one-b"],
    usesRest: true,
  },
  {
    says: "C++: one that it cannot read, and one by name",
    text: "xDS response validation errors: [resource index 0: INVALID_ARGUMENT: Can't parse Cluster resource.; resource index 1: one-b: INVALID_ARGUMENT: errors validating Cluster resource: [field:type error:unknown discovery type]]",
    carried: ["one", "one-b"],
    blames: ["one-b"],
    usesRest: false,
  },
  {
    says: "C++: only what it cannot read",
    text: "xDS response validation errors: [resource index 0: INVALID_ARGUMENT: Can't parse ClusterLoadAssignment resource.]",
    carried: ["one", "one-b"],
    blames: undefined,
  },
  {
    says: "C++: the only one, which it cannot read",
    text: "xDS response validation errors: [resource index 0: INVALID_ARGUMENT: Can't parse ClusterLoadAssignment resource.]",
    carried: ["one"],
    blames: ["one"],
    usesRest: false,
  },
  {
    says: "C++: the name of an xDS-enabled server's listener",
    text: "xDS response validation errors: [resource index 0: grpc/server?xds.resource.listening_address=127.0.0.1:80: INVALID_ARGUMENT: Listener has neither address nor ApiListener]",
    carried: ["grpc/server?xds.resource.listening_address=127.0.0.1:80", "greeter"],
    blames: ["grpc/server?xds.resource.listening_address=127.0.0.1:80"],
    usesRest: true,
  },
  {
    says: "C++: one that is rejected still, and was not carried anew",
    text: "xDS response validation errors: [resource index 0: one: INVALID_ARGUMENT: errors validating Cluster resource: [field:type error:unknown discovery type]]",
    carried: ["two"],
    blames: undefined,
  },
  {
    says: "Node: places in the response, no names",
    text: "xDS response validation errors: [resource index 0: Cluster message validation failed: [Unsupported type STRICT_DNS]; resource index 1: Cluster message validation failed: [Unsupported type STRICT_DNS]]",
    carried: ["one", "STRICT_DNS", "Cluster message validation failed"],
    blames: undefined,
  },
  {
    says: "Go: two clusters, each with its content",
    text: 'error parsing "ClusterResource" response: resource "one": unsupported cluster type (STRICT_DNS, <nil>) in response: name:"one"  type:STRICT_DNS  eds_cluster_config:{eds_config:{ads:{}  resource_api_version:V3}}  connect_timeout:{seconds:1};\nresource "one-b": unsupported cluster type (STRICT_DNS, <nil>) in response: name:"one-b"  type:STRICT_DNS  eds_cluster_config:{eds_config:{ads:{}  resource_api_version:V3}}  connect_timeout:{seconds:1}',
    carried: ["one", "one-b", "two"],
    blames: ["one", "one-b"],
    usesRest: true,
  },
  {
    says: "Go: one that it cannot read, and right behind it one by name",
    text: 'error parsing "ClusterResource" response: top level errors: failed to unmarshal resource: proto: cannot parse invalid wire-format dataresource "one-b": unsupported cluster type (STRICT_DNS, <nil>) in response: name:"one-b"',
    carried: ["one", "one-b"],
    blames: ["one-b"],
    usesRest: false,
  },
  {
    says: "Go: only what it cannot read",
    text: 'error parsing "RouteConfigResource" response: top level errors: failed to unmarshal resource: proto: cannot parse invalid wire-format data',
    carried: ["routes", "others"],
    blames: undefined,
  },
  {
    says: "Go: a route that names a cluster",
    text: 'error parsing "RouteConfigResource" response: resource "routes": received route is invalid: route match:{prefix:""}  route:{weighted_clusters:{clusters:{name:"one"  weight:{}}  total_weight:{}}}, action &{WeightedClusters:clusters:{name:"one"  weight:{}}  total_weight:{}}, has no valid cluster in WeightedCluster action',
    carried: ["routes", "one"],
    blames: ["routes"],
    usesRest: true,
  },
  {
    says: "Go: a name that must be quoted",
    text: 'error parsing "ClusterResource" response: resource "a \\"b\\" \\u00ad\\xff": no',
    carried: ['a "b" \u00ad\ufffd', "a"],
    blames: ['a "b" \u00ad\ufffd'],
    usesRest: true,
  },
  {
    says: "Go of 2020: the response is rejected whole",
    text: 'xds: unexpected cluster type STRICT_DNS in response: name:"one" type:STRICT_DNS eds_cluster_config:<eds_config:<ads:<> resource_api_version:V3 > > connect_timeout:<seconds:1 > ',
    carried: ["one", "one-b"],
    blames: ["one"],
    usesRest: false,
  },
  {
    says: "Go of 2020: without a name",
    text: "priority 0 missing (with different priorities map[3:{}] received)",
    carried: ["one", "one-b"],
    blames: undefined,
  },
  {
    says: "Java: two clusters",
    text: "CDS response Cluster 'one' validation error: Cluster one: unsupported lb policy: MAGLEV\nCDS response Cluster 'one-b' validation error: it's bad",
    carried: ["one", "one-b", "two"],
    blames: ["one", "one-b"],
    usesRest: true,
  },
  {
    says: "Java: names and reasons with the quotes that enclose names",
    text: "CDS response Cluster 'it's' validation error: Cluster it's: unsupported lb policy: MAGLEV\nCDS response Cluster 'one' validation error: Cluster one: unsupported lb policy: MAGLEV",
    carried: ["it", "it's", "one", "s"],
    blames: ["it's", "one"],
    usesRest: true,
  },
  {
    says: "Java: a listener whose reason names other things",
    text: "LDS response Listener 'greeter' validation error: HttpConnectionManager contains invalid HttpFilter: HttpFilter [lua](type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua) is required but unsupported for client",
    carried: ["greeter", "HttpFilter", "lua", "other"],
    blames: ["greeter"],
    usesRest: true,
  },
  {
    says: "Java: one that it cannot read, and one by name",
    text: "LDS response Resource index 0 - can't decode Listener: com.google.protobuf.InvalidProtocolBufferException\nLDS response Listener 'B' validation error: no",
    carried: ["A", "B"],
    blames: ["B"],
    usesRest: false,
  },
  {
    says: "Java: a name of another type",
    text: "Unsupported resource name: xdstp:///envoy.config.route.v3.RouteConfiguration/x for type: LDS",
    carried: ["xdstp:///envoy.config.route.v3.RouteConfiguration/x", "y"],
    blames: ["xdstp:///envoy.config.route.v3.RouteConfiguration/x"],
    usesRest: true,
  },
];
