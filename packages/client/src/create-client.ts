import { toBinary } from "@bufbuild/protobuf";
import { defaultBackoff, resourceTypes, systemClock, typeUrlPrefix, XdskitError } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { createWatchConfig } from "./config/watch-config.js";
import type { XdsClient } from "./contract/xds-client.js";
import { createClientEvents } from "./events/client-events.js";
import { clientNode } from "./identity/client-node.js";
import { clientChecks } from "./options/client-checks.js";
import { defaultClientLimits } from "./options/client-limits.js";
import type { ClientOptions } from "./options/client-options.js";
import { checkOptions } from "./options/option-checks.js";
import { levelOf } from "./options/validate-level.js";
import { ClientWatches } from "./origin/client-watches.js";
import { Origins } from "./origin/origins.js";
import type { UpstreamContext } from "./upstreams/contract/upstream.js";
import { type CreateUpstream, createUpstream } from "./upstreams/create-upstream.js";

/**
 * Makes a client. It connects when something is first watched. Throws an XdskitError if an option is wrong.
 *
 * @example
 * ```ts
 * import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
 * import { createClient } from "@xdskit/client";
 *
 * const client = createClient({ servers: ["127.0.0.1:18000"], node: { id: "shop-1", cluster: "shop" } });
 * const { message, version } = await client.get(ClusterSchema, "web");
 * console.log(version, message.connectTimeout?.seconds);
 * await client.close();
 * ```
 */
export function createClient(options: ClientOptions): XdsClient {
  return createClientWith(options, createUpstream);
}

/** The same over other upstreams, for tests. */
export function createClientWith(options: ClientOptions, create: CreateUpstream): XdsClient {
  checkOptions(options);
  const { registry, types = resourceTypes, clock = systemClock, random = Math.random } = options;
  const limits = { ...defaultClientLimits, ...options.limits };
  const events = createClientEvents();
  const node = clientNode(options.node, options.features);
  const context: UpstreamContext = {
    types,
    registry,
    limits,
    clock,
    random,
    node: toBinary(NodeSchema, node),
    nodeOn: options.nodeOn ?? "first",
    check: clientChecks(options, types, registry),
    rules: levelOf(options.validate) === "full",
    absentAfterMs: options.absentAfterMs ?? 15_000,
    backoff: { ...defaultBackoff, ...options.backoff },
  };
  const origins = new Origins(options, create, context, events.emit);
  const watches = new ClientWatches(types, origins, clock);
  const listenerType = types.byTypeUrl(`${typeUrlPrefix}${ListenerSchema.typeName}`)?.type;
  // The functions work without their object: programs may pass them on. A response was checked before, so a message
  // has the shape of its type's schema.
  const watch = watches.watch.bind(watches) as XdsClient["watch"];
  const watchConfig = createWatchConfig({
    client: { watch },
    registry,
    counted: (watch, end) => watches.counted(watch, end),
    failed: (error) => {
      if (listenerType !== undefined) events.emit(() => ({ kind: "watcher-failed", type: listenerType, error }));
    },
  });
  return {
    watch,
    watchConfig,
    watchCollection: watches.watchCollection.bind(watches) as XdsClient["watchCollection"],
    get: watches.get.bind(watches) as XdsClient["get"],
    on(listener) {
      if (typeof listener === "function") return events.on(listener);
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", "client.on takes a function, such as (event) => console.log(event)");
    },
    node,
    now: () => clock.now(),
    get isConnected() {
      return origins.isConnected;
    },
    status: () => origins.status(),
    close: () => watches.close(),
  };
}
