import type { Message } from "@bufbuild/protobuf";
import {
  authorityOf,
  type Clock,
  canonicalName,
  isGlobName,
  nameProblem,
  noSuchType,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  typeUrlPrefix,
  XdskitError,
} from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { Collection, GetOptions, TypeOf } from "../contract/xds-client.js";
import { checkClientCall, checkWatcher } from "../options/option-tables.js";
import { mergeCollections } from "../watchers/collection-change.js";
import type { Watcher } from "../watchers/delivery.js";
import { getResource } from "../watchers/get-resource.js";
import { createWatchIterator } from "../watchers/watch-iterator.js";
import { watchNothing } from "./origin.js";
import type { Origins } from "./origins.js";

/** The watches of a client. The process stays alive while there is one, even without a connection. */
export class ClientWatches {
  readonly #types: ResourceTypes;
  readonly #origins: Origins;
  readonly #clock: Clock;
  readonly #active = new Set<CountedWatch>();
  /** Calls of `get` that wait for their answer. */
  readonly #waiting = new Set<(error: XdskitError) => void>();
  #alive: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(types: ResourceTypes, origins: Origins, clock: Clock) {
    this.#types = types;
    this.#origins = origins;
    this.#clock = clock;
  }

  watch(type: TypeOf<Message>, name: ResourceName, watcher?: Watcher<ReceivedResource> & Watcher<Collection>): Watch {
    const found = this.#typeOf(type, name);
    if (watcher !== undefined) checkWatcher("client.watch", watcher);
    return name === "*" ? this.#watchAll(found, name, watcher) : this.#watchOne(found, name, watcher);
  }

  watchCollection(type: TypeOf<Message>, name: ResourceName, watcher: Watcher<Collection>): Watch {
    checkWatcher("client.watchCollection", watcher);
    return this.#watchAll(this.#typeOf(type, name), name, watcher);
  }

  async get(type: TypeOf<Message>, name: ResourceName, options: GetOptions = {}): Promise<ReceivedResource> {
    checkClientCall("client.get", options);
    const found = this.#typeOf(type, name);
    const onClose = (reject: (error: XdskitError) => void) => {
      this.#waiting.add(reject);
      return () => void this.#waiting.delete(reject);
    };
    return getResource((watcher) => this.#watchOne(found, name, watcher), options, this.#clock, onClose);
  }

  /** Counts a watch. `end` is called when the client ends the watch. */
  counted(watch: Watch, end: (() => void) | undefined): Watch {
    this.#alive ??= setInterval(() => {}, 2 ** 30);
    const one = new CountedWatch(watch, end, (watch) => {
      this.#active.delete(watch);
      if (this.#active.size > 0) return;
      clearInterval(this.#alive);
      this.#alive = undefined;
    });
    this.#active.add(one);
    return one;
  }

  /** Ends all watches, in a later turn; none can begin from now on. */
  close(): Promise<void> {
    this.#closing ??= Promise.resolve().then(async () => {
      for (const reject of [...this.#waiting]) reject(closedError());
      const closed = this.#origins.close();
      for (const watch of [...this.#active]) watch.end();
      await closed;
    });
    return this.#closing;
  }

  /** Finds the type, and checks that the resource's name can be one. */
  #typeOf(type: TypeOf<Message>, resource: unknown): ResourceType {
    if (this.#closing !== undefined) throw closedError();
    const name: unknown = typeof type === "string" ? type : (type as Partial<typeof type> | undefined)?.typeName;
    if (typeof name !== "string")
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", 'a type is a string, such as "cluster", or the schema of a message');
    const found =
      typeof type === "string" ? this.#types.find(name) : this.#types.byTypeUrl(`${typeUrlPrefix}${name}`)?.type;
    if (found !== undefined && typeof resource === "string") return found;
    if (found !== undefined)
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", `a ${found.name} has a name, such as "web", or "*" for all`);
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", noSuchType(name, this.#types));
  }

  #watchOne(type: ResourceType, written: ResourceName, watcher: Watcher<ReceivedResource> | undefined): Watch {
    const newest = (_: ReceivedResource, later: ReceivedResource) => later;
    return this.#start(watcher, newest, (own) => {
      const name = canonicalName(written);
      if (name === "*" || isGlobName(name)) {
        const message = `${name} is a collection: watch it with watchCollection`;
        throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: type.name });
      }
      const problem = nameProblem(name, type.typeUrl, ...(type.namedBelow ?? []));
      const where = { type: type.name, resource: name };
      if (problem !== undefined) return watchNothing(own, XdskitError.of("XDSKIT_NAME_XDSTP", problem, where));
      return this.#origins.of(authorityOf(name), where, own, (origin) => origin.watch(type, name, own));
    });
  }

  #watchAll(type: ResourceType, written: ResourceName, watcher: Watcher<Collection> | undefined): Watch {
    return this.#start(watcher, mergeCollections, (own) => {
      const name = canonicalName(written);
      if (name !== "*" && !isGlobName(name)) {
        const message = `${name} is not a collection: the name of one is * or ends with /*`;
        throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: type.name });
      }
      const where = { type: type.name, resource: name };
      return this.#origins.of(authorityOf(name), where, own, (origin) => origin.watchCollection(type, name, own));
    });
  }

  /** Starts a watch, with a watcher or as an iterator. */
  #start<Value>(
    watcher: Watcher<Value> | undefined,
    merge: (earlier: Value, later: Value) => Value,
    watchWith: (watcher: Watcher<Value>) => Watch,
  ): Watch {
    if (watcher !== undefined) return this.counted(watchWith(watcher), undefined);
    const iterator = createWatchIterator<Value>((own) => this.counted(watchWith(own), () => iterator.end()), merge);
    return iterator;
  }
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

function closedError(): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_CLOSED", "the client is closed");
}
