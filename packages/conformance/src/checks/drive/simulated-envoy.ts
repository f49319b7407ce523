import { referencesOf } from "../../peer/found-names.js";
import type { ReceivedResponse, ResponseResource } from "../../wire/messages.js";
import { typeNamed, typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";

const [cluster, endpoint, listener, route] = ["cluster", "endpoint", "listener", "route"].map(typeUrlOf) as [
  string,
  string,
  string,
  string,
];
/** Which type names which: the names of the second are asked for as the first says. */
const namedBy = new Map([
  [cluster, endpoint],
  [listener, route],
]);

/**
 * Follows a stream as Envoy does: it asks for what clusters and listeners name before it accepts them, and uses what it
 * has at any moment. A route that leads to a cluster without endpoints, or to none, is a request that fails.
 */
export class SimulatedEnvoy {
  readonly #stream: XdsStream;
  readonly #current = new Map<string, Map<string, ResponseResource>>();
  readonly #asked = new Map<string, ReadonlySet<string>>();
  /** What was broken, in the order in which it broke. */
  readonly broken: string[] = [];

  constructor(stream: XdsStream) {
    this.#stream = stream;
    stream.ask(cluster);
    stream.ask(listener);
  }

  current(type: string): ReadonlyMap<string, ResponseResource> {
    return this.#current.get(type) ?? new Map();
  }

  /** Takes responses until it is as it must be. Throws Failed if nothing more comes. */
  async follow(isDone: () => boolean): Promise<void> {
    while (!isDone()) this.#take(await this.#stream.next());
  }

  /** The same, and then it is quiet, and still as it must be. Throws Failed if it does not come to that. */
  async settle(isDone: () => boolean): Promise<void> {
    do {
      await this.follow(isDone);
      for (const response of await this.#stream.comes()) this.#take(response);
    } while (!isDone());
  }

  #take(response: ReceivedResponse): void {
    const { type } = response;
    const current = new Map(this.#current.get(type));
    if (response.variant === "sotw" && typeNamed(type).fullState) current.clear();
    for (const resource of response.resources) current.set(resource.name, resource);
    for (const name of response.removed) current.delete(name);
    this.#current.set(type, current);
    const next = namedBy.get(type);
    if (next !== undefined) this.#askFor(next, current);
    this.#stream.ack(response);
    this.#look();
  }

  #askFor(type: string, by: ReadonlyMap<string, ResponseResource>): void {
    const names = new Set(
      [...by.values()].flatMap(referencesOf).flatMap((one) => (one.type === type ? [one.name] : [])),
    );
    const before = this.#asked.get(type);
    const added = [...names].filter((name) => !before?.has(name));
    const dropped = [...(before ?? [])].filter((name) => !names.has(name));
    if (added.length === 0 && dropped.length === 0) return;
    this.#asked.set(type, names);
    for (const name of dropped) this.#current.get(type)?.delete(name);
    const last = this.#stream.received(type).at(-1);
    if (this.#stream.variant === "delta") this.#stream.send({ type, subscribe: added, unsubscribe: dropped });
    else if (last === undefined) this.#stream.ask(type, [...names]);
    else this.#stream.ack(last, { names: [...names] });
  }

  /** Whether each route in use leads somewhere now. */
  #look(): void {
    const [clusters, endpoints] = [this.current(cluster), this.current(endpoint)];
    for (const resource of this.current(route).values()) {
      for (const { type, name } of referencesOf(resource)) {
        if (type !== cluster) continue;
        const lack = clusters.has(name) ? "without endpoints" : "which is not there";
        if (clusters.has(name) && endpoints.has(name)) continue;
        const what = `the route ${resource.name} leads to the cluster ${name} ${lack}`;
        if (this.broken.at(-1) !== what) this.broken.push(what);
      }
    }
  }
}
