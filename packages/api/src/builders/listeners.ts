import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Listener, ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { RouterSchema } from "@xdskit/api/envoy/extensions/filters/http/router/v3/router";
import {
  HttpConnectionManagerSchema,
  type HttpFilterSchema,
} from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { DownstreamTlsContextSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls";
import { checkCall } from "../errors/option-table.js";
import { adsSource, type ConfigSourceFields } from "./config-source.js";
import { type SocketOption, socketAddress, socketRules } from "./endpoints.js";
import { type BesideFields, builderCall, packed } from "./fields.js";

type ManagerFields = BesideFields<typeof HttpConnectionManagerSchema, "routeSpecifier" | "httpFilters">;

/** Where the routes of a listener are, and what else its connection manager does. */
interface ManagerOptions {
  /** The name of a route configuration that clients get over RDS. */
  readonly routeConfigName?: string | undefined;
  /** Where they get it. Default: on their ADS stream. */
  readonly configSource?: ConfigSourceFields | undefined;
  /** Instead of `routeConfigName`: the routes themselves, such as `routeConfiguration` makes them. */
  readonly routeConfig?: MessageInitShape<typeof RouteConfigurationSchema> | undefined;
  /** The HTTP filters before the router. */
  readonly httpFilters?: readonly MessageInitShape<typeof HttpFilterSchema>[] | undefined;
  /** Other fields of `HttpConnectionManager`, such as `accessLog`. */
  readonly httpConnectionManager?: ManagerFields | undefined;
}

type ListenerFields = BesideFields<typeof ListenerSchema, "name" | "address" | "filterChains" | "apiListener">;

/** The options of a listener for HTTP. */
export type HttpListenerOptions = ListenerFields &
  SocketOption &
  ManagerOptions & {
    readonly name: string;
    /** The name of the secret with its certificate, which clients get as they get routes. Default: plain HTTP. */
    readonly tlsSecret?: string | undefined;
  };

/** The options of a listener for clients of gRPC. */
export type GrpcListenerOptions = ListenerFields & ManagerOptions & { readonly name: string };

/** The options of a listener for servers of gRPC. */
export type GrpcServerListenerOptions = ListenerFields &
  SocketOption &
  ManagerOptions & {
    /** Default: as the bootstrap of `xdskit bootstrap grpc` asks for it. */
    readonly name?: string | undefined;
  };

const manager = {
  routeConfigName: "string",
  configSource: "object",
  routeConfig: "object",
  httpFilters: { items: "object" },
  httpConnectionManager: "object",
} as const;

const calls = {
  http: builderCall({
    call: "httpListener",
    example: '{ name: "web", address: "0.0.0.0", portValue: 8080, routeConfigName: "web" }',
    needs: ["name", "address", "portValue"],
    beside: ListenerSchema,
    own: { name: "string", ...socketRules, ...manager, tlsSecret: "string" },
  }),
  grpc: builderCall({
    call: "grpcListener",
    example: '{ name: "greeter", routeConfigName: "greeter" }',
    needs: ["name"],
    beside: ListenerSchema,
    own: { name: "string", ...manager },
  }),
  grpcServer: builderCall({
    call: "grpcServerListener",
    example: '{ address: "0.0.0.0", portValue: 50051 }',
    needs: ["address", "portValue"],
    beside: ListenerSchema,
    own: { name: "string", ...socketRules, ...manager },
  }),
};

/**
 * Makes a listener that takes HTTP/1 and HTTP/2, routes it, and ends with the router.
 *
 * @example
 * ```ts
 * import { httpListener } from "@xdskit/api/builders";
 *
 * const web = httpListener({ name: "web", address: "0.0.0.0", portValue: 8080, routeConfigName: "web" });
 * ```
 */
export function httpListener(options: HttpListenerOptions): Listener {
  checkCall(calls.http, options);
  const { address, portValue, tlsSecret, ...rest } = options;
  const { manager, more } = split(rest);
  const { configSource = adsSource } = options;
  return create(ListenerSchema, {
    ...more,
    address: socketAddress({ address, portValue }),
    filterChains: [
      {
        filters: [managerFilter({ statPrefix: options.name, ...manager })],
        ...(tlsSecret === undefined ? {} : { transportSocket: tlsSocket(tlsSecret, configSource) }),
      },
    ],
  });
}

/**
 * Makes the listener of a client of gRPC without a proxy: `xds:///NAME` is its target.
 *
 * @example
 * ```ts
 * import { grpcListener, routeConfiguration } from "@xdskit/api/builders";
 *
 * const routeConfig = routeConfiguration({ name: "greeter", routes: [{ prefix: "", cluster: "greeter" }] });
 * const greeter = grpcListener({ name: "greeter", routeConfig });
 * ```
 */
export function grpcListener(options: GrpcListenerOptions): Listener {
  checkCall(calls.grpc, options);
  const { manager, more } = split(options);
  const apiListener = packed(HttpConnectionManagerSchema, connectionManager(manager));
  return create(ListenerSchema, { ...more, apiListener: { apiListener } });
}

/**
 * Makes the listener of a server of gRPC that is configured over xDS. Without routes it lets all calls in.
 *
 * @example
 * ```ts
 * import { grpcServerListener } from "@xdskit/api/builders";
 *
 * const greeter = grpcServerListener({ address: "0.0.0.0", portValue: 50051 });
 * ```
 */
export function grpcServerListener(options: GrpcServerListenerOptions): Listener {
  checkCall(calls.grpcServer, options);
  const { address, portValue, ...rest } = options;
  const at = address.includes(":") ? `[${address}]:${portValue}` : `${address}:${portValue}`;
  const { name = `grpc/server?xds.resource.listening_address=${at}` } = options;
  const hasRoutes = rest.routeConfig !== undefined || rest.routeConfigName !== undefined;
  const { manager, more } = split({ ...rest, ...(hasRoutes ? {} : { routeConfig: lettingIn }) });
  return create(ListenerSchema, {
    ...more,
    name,
    address: socketAddress({ address, portValue }),
    filterChains: [{ filters: [managerFilter({ statPrefix: "grpc", ...manager })] }],
  });
}

/** Servers do not forward: a call that matches is let in. */
const lettingIn: MessageInitShape<typeof RouteConfigurationSchema> = {
  name: "all",
  virtualHosts: [
    {
      name: "all",
      domains: ["*"],
      routes: [
        {
          match: { pathSpecifier: { case: "prefix", value: "" } },
          action: { case: "nonForwardingAction", value: {} },
        },
      ],
    },
  ],
};

type ManagerParts = ManagerOptions & { readonly statPrefix?: string };

/** The options of the connection manager, and the fields of the listener. */
function split<Options extends ManagerOptions>(options: Options) {
  const { routeConfigName, configSource, routeConfig, httpFilters, httpConnectionManager, ...more } = options;
  const manager = { routeConfigName, configSource, routeConfig, httpFilters, httpConnectionManager };
  return { manager, more };
}

function connectionManager({
  routeConfigName = "",
  configSource = adsSource,
  routeConfig,
  httpFilters = [],
  httpConnectionManager = {},
  statPrefix = "",
}: ManagerParts): MessageInitShape<typeof HttpConnectionManagerSchema> {
  return {
    statPrefix,
    ...httpConnectionManager,
    routeSpecifier:
      routeConfig === undefined
        ? { case: "rds", value: { routeConfigName, configSource } }
        : { case: "routeConfig", value: routeConfig },
    httpFilters: [
      ...httpFilters,
      {
        name: "envoy.filters.http.router",
        configType: { case: "typedConfig", value: packed(RouterSchema, {}) },
      },
    ],
  };
}

function managerFilter(parts: ManagerParts) {
  const value = packed(HttpConnectionManagerSchema, connectionManager(parts));
  return { name: "envoy.filters.network.http_connection_manager", configType: { case: "typedConfig", value } } as const;
}

function tlsSocket(name: string, sdsConfig: ConfigSourceFields) {
  const commonTlsContext = { tlsCertificateSdsSecretConfigs: [{ name, sdsConfig }] };
  const value = packed(DownstreamTlsContextSchema, { commonTlsContext });
  return { name: "envoy.transport_sockets.tls", configType: { case: "typedConfig", value } } as const;
}
