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
import { defaultBackoff } from "./backoff.js";
import { clientChecks } from "./client-checks.js";
import { createClientEvents } from "./client-events.js";
import { defaultClientLimits } from "./client-limits.js";
import { clientNode } from "./client-node.js";
import type { ClientOptions } from "./client-options.js";
import { systemClock } from "./clock.js";
import { createWatchConfig } from "./config/watch-config.js";
import { getResource } from "./get-resource.js";
import { checkOptions } from "./option-checks.js";
import { checkCall, checkWatcher } from "./option-tables.js";
import { createOrigins } from "./origin/origins.js";
import { type CreateUpstream, createUpstream } from "./upstreams/create-upstream.js";
import type { UpstreamContext } from "./upstreams/upstream.js";
import { levelOf } from "./validate-level.js";
import { mergeCollections } from "./watchers/collection-change.js";
import type { Watcher } from "./watchers/delivery.js";
import type { Watch } from "./watchers/watch.js";
import { createWatchIterator } from "./watchers/watch-iterator.js";
import type { Collection, GetOptions, TypeOf, XdsClient } from "./xds-client.js";

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
  /** Under way. */
  const watches = new Set<CountedWatch>();
  const waiting = new Set<(error: XdskitError) => void>();
  let alive: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  function typeOf(type: TypeOf<Message>): ResourceType {
    if (closing !== undefined) throw closedError();
    const schemaName = (type as { readonly typeName?: unknown } | undefined)?.typeName;
    if (typeof type !== "string" && typeof schemaName !== "string")
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", 'a type is a text, such as "cluster", or the schema of a message');
    const found =
      typeof type === "string" ? types.find(type) : types.byTypeUrl(`${typeUrlPrefix}${type.typeName}`)?.type;
    if (found !== undefined) return found;
    const name = typeof type === "string" ? type : type.typeName;
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", `${JSON.stringify(name)} is no type of resources`);
  }

  /** Counts a watch: the process lives as long as there is one, whether or not a connection is open. `end` is called where the client ends it. */
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
      const message = `${name} is no collection, which is * or ends with /*`;
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: type.name });
    }
    const where = { type: type.name, resource: name };
    return origins.of(authorityOf(name), where, watcher, (origin) => origin.watchCollection(type, name, watcher));
  }

  /** A watch with a watcher, or as an iterator. */
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

  // A message has the shape of its type's schema: that is what a response is checked for.
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

/** One watch that is under way. There are as many as names: a class, whose functions all share. */
class CountedWatch implements Watch {
  readonly #watch: Watch;
  readonly #ended: (() => void) | undefined;
  readonly #uncount: (watch: CountedWatch) => void;

  constructor(watch: Watch, ended: (() => void) | undefined, uncount: (watch: CountedWatch) => void) {
    this.#watch = watch;
    this.#ended = ended;
    this.#uncount = uncount;
  }

  /** Made for who takes it, and good by itself. */
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
