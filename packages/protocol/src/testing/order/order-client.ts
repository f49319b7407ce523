import type { Random } from "../random.js";
import type { SeenResponse } from "../wire.js";
import { isBad, namedBy } from "./order-world.js";

/** An answer or a wish of a client, for one type. */
export interface OrderRequest {
  readonly type: string;
  readonly nonce: string;
  /** Why it rejects the response of this nonce. */
  readonly rejects: string | undefined;
}

type Contents = Map<string, string>;

/** In the order of delivery. */
export const orderedTypes = ["cluster", "endpoint", "listener", "route"];

/** A client asks for these types by the names that it knows. */
export function isNamed(type: string): boolean {
  return type === "endpoint" || type === "route";
}

/**
 * A client like Envoy as far as order is concerned. It takes all clusters and listeners, asks for the resources that
 * they name, and uses a new cluster only once it acknowledged it. It serves by a listener until the replacement has its
 * routes, and then drains it for a while. It throws as soon as something in use names a resource that it lacks.
 */
export class OrderClient {
  readonly #random: Random;
  readonly #delta: boolean;
  /** Good resources of a response with bad ones are used all the same. */
  readonly #partly: boolean;
  /** It says which resources it rejects. */
  readonly #blames: boolean;
  readonly current: ReadonlyMap<string, Contents> = new Map(orderedTypes.map((type) => [type, new Map()]));
  /** Clusters that are warm. */
  readonly #warm = new Set<string>();
  /** Listeners that wait for their routes, by name: their new content. */
  readonly #pending = new Map<string, string>();
  /** The contents that listeners serve by. */
  readonly #serving = new Map<string, string>();
  #draining: { readonly content: string; readonly until: number }[] = [];
  #booted = false;

  constructor(random: Random, delta: boolean) {
    this.#random = random;
    this.#delta = delta;
    this.#partly = random.chance(0.7);
    this.#blames = this.#partly && random.chance(0.7);
  }

  /** The types that it asks for now: the listeners once it has clusters. */
  get asks(): readonly string[] {
    return this.#booted ? orderedTypes : ["cluster", "endpoint"];
  }

  /** The names that it asks for. */
  wants(type: string): ReadonlySet<string> {
    if (!isNamed(type)) return new Set();
    const naming =
      type === "endpoint"
        ? [...this.#currentOf("cluster").values()]
        : [...this.#serving.values(), ...this.#pending.values(), ...this.#draining.map(({ content }) => content)];
    return new Set(naming.flatMap(namedBy));
  }

  /** Takes a response, and answers it. */
  receive(type: string, { resources, removed, nonce }: SeenResponse, now: number): OrderRequest {
    const faulty = resources.filter(({ content = "" }) => isBad(content)).map(({ name }) => name);
    const current = this.#currentOf(type);
    const whole = !this.#delta && !isNamed(type);
    if (faulty.length === 0 || this.#partly) {
      if (whole) {
        const there = new Set(resources.map(({ name }) => name));
        for (const name of [...current.keys()]) if (!there.has(name)) this.#remove(type, name, now);
      }
      for (const { name, content = "" } of resources) {
        // Rule 165: it ignores resources that it no longer asks for, once the server knows.
        if (this.#delta && isNamed(type) && !this.wants(type).has(name)) continue;
        if (!isBad(content)) this.#take(type, name, content, now);
      }
      for (const name of removed) this.#remove(type, name, now);
    }
    this.check(now);
    const why = faulty.map((name) => `${name}: no good`).join(", ");
    const blame = `Error adding/updating ${type}(s) ${why}`;
    return { type, nonce, rejects: faulty.length === 0 ? undefined : this.#blames ? blame : "something is wrong" };
  }

  #take(type: string, name: string, content: string, now: number): void {
    this.#currentOf(type).set(name, content);
    if (type === "listener") {
      if (this.#serving.get(name) === content) this.#pending.delete(name);
      else this.#pending.set(name, content);
    }
    if (type === "listener" || type === "route") this.#changeOver(now);
  }

  #remove(type: string, name: string, now: number): void {
    if (!this.#currentOf(type).delete(name)) return;
    if (type === "cluster") this.#warm.delete(name);
    if (type !== "listener") return;
    this.#pending.delete(name);
    this.#retire(this.#serving.get(name), now);
    this.#serving.delete(name);
  }

  /** Listeners whose routes came take the place of those that serve. */
  #changeOver(now: number): void {
    for (const [name, content] of [...this.#pending]) {
      if (!namedBy(content).every((route) => this.#currentOf("route").has(route))) continue;
      this.#pending.delete(name);
      this.#retire(this.#serving.get(name), now);
      this.#serving.set(name, content);
    }
  }

  #retire(content: string | undefined, now: number): void {
    if (content !== undefined) this.#draining.push({ content, until: now + this.#random.int(1500) });
  }

  /** It asks for these names of the type, and drops all others. */
  forgetBut(type: string, names: ReadonlySet<string>): void {
    if (!isNamed(type)) return;
    for (const name of [...this.#currentOf(type).keys()]) {
      if (names.has(name)) continue;
      this.#currentOf(type).delete(name);
      this.#everHad.delete(name);
    }
  }

  #currentOf(type: string): Contents {
    const current = this.current.get(type);
    if (current === undefined) throw new Error(`no such type: ${type}`);
    return current;
  }

  /** It acknowledged clusters: its clusters are warm. */
  acknowledged(type: string): void {
    if (type !== "cluster") return;
    for (const name of this.#currentOf("cluster").keys()) this.#warm.add(name);
    this.#booted = true;
  }

  /** Throws if it uses something that does not exist. */
  check(now: number): void {
    this.#draining = this.#draining.filter(({ until }) => until > now);
    const serving = [...this.#serving.values(), ...this.#draining.map(({ content }) => content)];
    for (const listener of serving) {
      for (const route of namedBy(listener)) {
        const content = this.#currentOf("route").get(route);
        if (content === undefined) throw new Error(`a listener that serves (${listener}) has lost its routes ${route}`);
        for (const cluster of namedBy(content)) {
          if (!this.#currentOf("cluster").has(cluster))
            throw new Error(
              `${listener} serves by ${route}=${content}, which names cluster ${cluster}, which is not there`,
            );
          if (!this.#warm.has(cluster))
            throw new Error(`routes that serve (${route}=${content}) name cluster ${cluster}, which is not warm`);
        }
      }
    }
    for (const [name, content] of this.#currentOf("cluster")) {
      for (const service of namedBy(content)) {
        if (this.#warm.has(name) && !this.#currentOf("endpoint").has(service) && this.#everHad.has(service))
          throw new Error(`cluster ${name}=${content} has lost its load assignment ${service}`);
      }
    }
    for (const service of this.#currentOf("endpoint").keys()) this.#everHad.add(service);
  }

  /** Load assignments that existed once. */
  readonly #everHad = new Set<string>();
}
