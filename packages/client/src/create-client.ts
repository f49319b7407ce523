import { type Message, toBinary } from "@bufbuild/protobuf";
import {
  authorityOf,
  canonicalName,
  isGlobName,
  nameProblem,
  type ResourceName,
  type ResourceType,
  resourceTypes,
  typeUrlPrefix,
  XdskitError,
} from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { ReceivedResource } from "@xdskit/protocol";
import { createWatchConfig } from "./config/watch-config.js";
import type { Watch } from "./contract/watch.js";
import type { Collection, GetOptions, TypeOf, XdsClient } from "./contract/xds-client.js";
import { createClientEvents } from "./events/client-events.js";
import { clientNode } from "./identity/client-node.js";
import { clientChecks } from "./options/client-checks.js";
import { defaultClientLimits } from "./options/client-limits.js";
import type { ClientOptions } from "./options/client-options.js";
import { checkOptions } from "./options/option-checks.js";
import { checkCall, checkWatcher } from "./options/option-tables.js";
import { levelOf } from "./options/validate-level.js";
import { createOrigins } from "./origin/origins.js";
import { defaultBackoff } from "./timing/backoff.js";
import { systemClock } from "./timing/clock.js";
import type { UpstreamContext } from "./upstreams/contract/upstream.js";
import { type CreateUpstream, createUpstream } from "./upstreams/create-upstream.js";
import { mergeCollections } from "./watchers/collection-change.js";
import type { Watcher } from "./watchers/delivery.js";
import { getResource } from "./watchers/get-resource.js";
import { createWatchIterator } from "./watchers/watch-iterator.js";

/** Makes a client. It connects when something is first watched. Throws an XdskitError if an option is wrong. */
export function createClient(options: ClientOptions): XdsClient {
  return createClientWith(options, createUpstream);
}

/** The same over upstreams of another make, for tests. */
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
  const origins = createOrigins(options, create, context, events.emit);
  /** Active watches. */
  const watches = new Set<CountedWatch>();
  const waiting = new Set<(error: XdskitError) => void>();
  let alive: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  function typeOf(type: TypeOf<Message>): ResourceType {
    if (closing !== undefined) throw closedError();
    const schemaName = (type as { readonly typeName?: unknown } | undefined)?.typeName;
    if (typeof type !== "string" && typeof schemaName !== "string")
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", 'a type is a string, such as "cluster", or the schema of a message');
    const found =
      typeof type === "string" ? types.find(type) : types.byTypeUrl(`${typeUrlPrefix}${type.typeName}`)?.type;
    if (found !== undefined) return found;
    const name = typeof type === "string" ? type : type.typeName;
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", `${JSON.stringify(name)} is no type of resources`);
  }

  /**
   * Counts a watch: the process stays alive while there is one, even without a connection. `end` is called when the
   * client ends the watch.
   */
  function counted(watch: Watch, end: (() => void) | undefined): Watch {
    alive ??= setInterval(() => {}, 2 ** 30);
    const one = new CountedWatch(watch, end, uncount);
    watches.add(one);
    return one;
  }

  function uncount(watch: CountedWatch): void {
    watches.delete(watch);
    if (watches.size > 0) return;
    clearInterval(alive);
    alive = undefined;
  }

  function watchOne(type: ResourceType, written: ResourceName, watcher: Watcher<ReceivedResource>): Watch {
    const name = canonicalName(written);
    if (name === "*" || isGlobName(name)) {
      const message = `${name} is a collection: watch it with watchCollection`;
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: type.name });
    }
    const problem = nameProblem(name, type.typeUrl, ...(type.namedBelow ?? []));
    const where = { type: type.name, resource: name };
    if (problem !== undefined) return origins.nobody(watcher, XdskitError.of("XDSKIT_NAME_XDSTP", problem, where));
    return origins.of(authorityOf(name), where, watcher, (origin) => origin.watch(type, name, watcher));
  }

  function watchAll(type: ResourceType, written: ResourceName, watcher: Watcher<Collection>): Watch {
    const name = canonicalName(written);
    if (name !== "*" && !isGlobName(name)) {
      const message = `${name} is not a collection: the name of one is * or ends with /*`;
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: type.name });
    }
    const where = { type: type.name, resource: name };
    return origins.of(authorityOf(name), where, watcher, (origin) => origin.watchCollection(type, name, watcher));
  }

  /** Starts a watch, with a watcher or as an iterator. */
  function start<Value>(
    watchWith: (watcher: Watcher<Value>) => Watch,
    watcher: Watcher<Value> | undefined,
    merge: (earlier: Value, later: Value) => Value,
  ): Watch {
    if (watcher !== undefined) return counted(watchWith(watcher), undefined);
    const iterator = createWatchIterator<Value>((own) => counted(watchWith(own), () => iterator.end()), merge);
    return iterator;
  }

  const watch = (
    type: TypeOf<Message>,
    name: ResourceName,
    watcher?: Watcher<ReceivedResource> & Watcher<Collection>,
  ): Watch => {
    const found = typeOf(type);
    if (watcher !== undefined) checkWatcher("client.watch", watcher);
    if (name === "*") return start<Collection>((own) => watchAll(found, name, own), watcher, mergeCollections);
    return start<ReceivedResource>((own) => watchOne(found, name, own), watcher, newest);
  };
  const get = async (type: TypeOf<Message>, name: ResourceName, getOptions: GetOptions = {}) => {
    checkCall("client.get", getOptions);
    const found = typeOf(type);
    const onClose = (reject: (error: XdskitError) => void) => {
      waiting.add(reject);
      return () => void waiting.delete(reject);
    };
    return getResource(
      (watcher) => start((own) => watchOne(found, name, own), watcher, newest),
      getOptions,
      clock,
      onClose,
    );
  };

  // The response was checked, so the message has the shape of its type's schema.
  const listenerType = types.byTypeUrl(`${typeUrlPrefix}${ListenerSchema.typeName}`)?.type;
  const typed = { watch: watch as XdsClient["watch"] };
  const watchConfig = createWatchConfig({
    client: typed,
    registry,
    counted,
    failed: (error) => {
      if (listenerType !== undefined) events.emit(() => ({ kind: "watcher-failed", type: listenerType, error }));
    },
  });

  return {
    ...typed,
    watchConfig,
    watchCollection(type, name, watcher) {
      checkWatcher("client.watchCollection", watcher);
      return start((own) => watchAll(typeOf(type), name, own), watcher as Watcher<Collection>, mergeCollections);
    },
    get: get as XdsClient["get"],
    on(listener) {
      if (typeof listener === "function") return events.on(listener);
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", "client.on takes a function, such as (event) => console.log(event)");
    },
    node,
    now: () => clock.now(),
    get isConnected() {
      return origins.isConnected;
    },
    status: origins.status,
    close() {
      closing ??= Promise.resolve().then(async () => {
        for (const reject of [...waiting]) reject(closedError());
        const closed = origins.close();
        for (const watch of [...watches]) watch.end();
        await closed;
      });
      return closing;
    },
  };
}

/** One active watch. There are as many as names, so it is a class, whose functions all watches share. */
class CountedWatch implements Watch {
  readonly #watch: Watch;
  readonly #ended: (() => void) | undefined;
  readonly #uncount: (watch: CountedWatch) => void;

  constructor(watch: Watch, ended: (() => void) | undefined, uncount: (watch: CountedWatch) => void) {
    this.#watch = watch;
    this.#ended = ended;
    this.#uncount = uncount;
  }

  /** Works without its object: programs may pass it on. */
  get cancel(): () => void {
    return () => {
      this.#watch.cancel();
      this.#uncount(this);
    };
  }

  /** The client ends it. */
  end(): void {
    this.cancel();
    this.#ended?.();
  }
}

const newest = <Value>(_: Value, later: Value) => later;

function closedError(): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_CLOSED", "the client is closed");
}
