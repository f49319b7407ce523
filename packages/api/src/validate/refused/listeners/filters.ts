import type { Any } from "@bufbuild/protobuf/wkt";
import type { ExtensionConfigSource } from "@xdskit/api/envoy/config/core/v3/config_source";
import type { Router } from "@xdskit/api/envoy/extensions/filters/http/router/v3/router";
import type { HttpProtocolOptions } from "@xdskit/api/envoy/extensions/upstreams/http/v3/http_protocol_options";
import { categoriesOf } from "../../../envoy-versions/extension-types.js";
import { contentTypeOf } from "../../../messages/any.js";
import { typeNameOf } from "../../../names/identifiers.js";
import type { SpecialProblem } from "../problem.js";
import { refused } from "../problem.js";

/** A filter of any kind. */
export interface Filter {
  readonly name: string;
  readonly configType: { readonly case?: string | undefined; readonly value?: unknown };
  readonly isOptional?: boolean;
  readonly disabled?: boolean;
}

/** Envoy finds an extension by the type of its configuration. A name is not enough. */
export function unconfiguredProblems({ configType, isOptional = false }: Filter): SpecialProblem[] {
  if (configType.case !== undefined || isOptional) return [];
  return [refused([], "needs typed_config, by whose type Envoy finds the extension")];
}

/** The default of a filter that is discovered is of one of its types too. */
export function defaultTypeProblems({ defaultConfig, typeUrls }: ExtensionConfigSource): SpecialProblem[] {
  if (defaultConfig === undefined) return [];
  const type = contentTypeOf(defaultConfig);
  if (typeUrls.some((url) => typeNameOf(url) === type)) return [];
  return [refused(["default_config"], "is of none of the types in type_urls")];
}

const network = "envoy.extensions.filters.network.";
const http = "envoy.extensions.filters.http.";

/** Terminal filters, which answer or forward: nothing may follow them. */
const lastOfChain: ReadonlySet<string> = new Set([
  `${network}http_connection_manager.v3.HttpConnectionManager`,
  `${network}tcp_proxy.v3.TcpProxy`,
]);
const lastOfHttp: ReadonlySet<string> = new Set([`${http}router.v3.Router`]);
const lastOfUpstream: ReadonlySet<string> = new Set([`${http}upstream_codec.v3.UpstreamCodec`]);

/** Filters that pass on their input: something must follow them. A filter in neither list may be either. */
const passing: ReadonlySet<string> = new Set(
  [
    "rbac.v3.RBAC",
    "ext_authz.v3.ExtAuthz",
    "ratelimit.v3.RateLimit",
    "local_ratelimit.v3.LocalRateLimit",
    "connection_limit.v3.ConnectionLimit",
    "sni_cluster.v3.SniCluster",
  ]
    .map((name) => network + name)
    .concat(
      [
        "cors.v3.Cors",
        "fault.v3.HTTPFault",
        "jwt_authn.v3.JwtAuthentication",
        "rbac.v3.RBAC",
        "lua.v3.Lua",
        "grpc_web.v3.GrpcWeb",
        "grpc_stats.v3.FilterConfig",
        "ext_authz.v3.ExtAuthz",
        "on_demand.v3.OnDemand",
        "header_to_metadata.v3.Config",
        "set_metadata.v3.Config",
        "header_mutation.v3.HeaderMutation",
        "stateful_session.v3.StatefulSession",
        "original_src.v3.OriginalSrc",
      ].map((name) => http + name),
    ),
);

/** Checks the order of HTTP filters. */
export function httpOrderProblems(filters: readonly Filter[], field: string): SpecialProblem[] {
  return orderProblems(filters, field, lastOfHttp);
}

/** FilterChain */
export function chainOrderProblems({ filters }: { readonly filters: readonly Filter[] }): SpecialProblem[] {
  return orderProblems(filters, "filters", lastOfChain);
}

/** Router */
export function routerProblems({ upstreamHttpFilters }: Router): SpecialProblem[] {
  return upstreamOrderProblems(upstreamHttpFilters, "upstream_http_filters");
}

/** HttpProtocolOptions of a cluster */
export function protocolFilterProblems({ httpFilters }: HttpProtocolOptions): SpecialProblem[] {
  return upstreamOrderProblems(httpFilters, "http_filters");
}

/** Filters of the requests that Envoy sends all pass them on, but one. */
function upstreamOrderProblems(filters: readonly Filter[], field: string): SpecialProblem[] {
  const passesOn = (type: string) =>
    !lastOfUpstream.has(type) && categoriesOf(type).includes("envoy.filters.http.upstream");
  return orderProblems(filters, field, lastOfUpstream, passesOn);
}

function orderProblems(
  filters: readonly Filter[],
  field: string,
  lastFilters: ReadonlySet<string>,
  passesOn = (type: string) => passing.has(type),
): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  for (const [index, { configType, disabled, isOptional }] of filters.entries()) {
    const type = configType.case === "typedConfig" ? contentTypeOf(configType.value as Any) : "";
    const last = index === filters.length - 1;
    if (last && passesOn(type) && !isOptional)
      problems.push(refused([field, index], "is the last filter, but passes its input on: another filter must follow"));
    if (!lastFilters.has(type)) continue;
    if (!last) problems.push(refused([field, index], "must be the last filter: no filter after it gets any input"));
    else if (disabled) problems.push(refused([field, index, "disabled"], "must not be set on the last filter"));
  }
  return problems;
}
