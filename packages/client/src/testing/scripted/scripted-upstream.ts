import { create, type Message } from "@bufbuild/protobuf";
import { createResource, type ResourceName, type ResourceType, type Version, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ClientTypeStatus, type ReceivedResource, type ResourceUpdate, receivedResource } from "@xdskit/protocol";
import type { Upstream, UpstreamSink } from "../../upstreams/contract/upstream.js";
import type { CreateUpstream } from "../../upstreams/create-upstream.js";

/** An upstream whose answers a test gives, and that writes down its requests. */
export class ScriptedUpstream implements Upstream {
  readonly server: string;
  readonly sink: UpstreamSink;
  /** `+cluster a,b`, `-cluster a`, `hold cluster a,b@1`, `forget`, `forget cluster`, `close`. */
  readonly log: string[] = [];
  readonly #wanted = new Set<string>();
  readonly #current = new Map<ResourceType, Map<ResourceName, ReceivedResource>>();
  readonly #absences = new Set<string>();
  #isClosed = false;

  constructor(server: string, sink: UpstreamSink) {
    this.server = server;
    this.sink = sink;
  }

  /** The subscriptions, such as `cluster a`. */
  get wanted(): ReadonlySet<string> {
    return this.#wanted;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Answers with resources, as a present server does; with removed names; with names that do not exist. */
  answer(
    type: ResourceType,
    {
      upserted = [],
      removed = [],
      absent = [],
    }: {
      readonly upserted?: readonly ReceivedResource[];
      readonly removed?: readonly ResourceName[];
      readonly absent?: readonly ResourceName[];
    },
  ): void | Promise<void> {
    this.sink.responded(type);
    for (const resource of upserted) this.#currentOf(type).set(resource.name, resource);
    for (const name of removed) this.#currentOf(type).delete(name);
    for (const name of absent) this.#absences.add(`${type.name} ${name}`);
    const update: ResourceUpdate = {
      type,
      upserted,
      failing: [],
      removed: removed.map((name) => ({ name, reason: "removed" })),
      absent: absent.map((name) => ({ name, reason: "told", error: undefined })),
    };
    if (upserted.length + removed.length + absent.length > 0) return this.sink.update(update);
  }

  /** An attempt fails. */
  fail(why = "it is away"): void {
    this.sink.failed(undefined, XdskitError.of("XDSKIT_UPSTREAM_AWAY", `${this.server}: ${why}`), false);
  }

  subscribe(type: ResourceType, names: readonly ResourceName[]): void {
    this.log.push(`+${type.name} ${names}`);
    for (const name of names) this.#wanted.add(`${type.name} ${name}`);
  }

  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void {
    this.log.push(`-${type.name} ${names}`);
    for (const name of names) this.#wanted.delete(`${type.name} ${name}`);
    for (const name of names) this.#currentOf(type).delete(name);
  }

  hold(type: ResourceType, resources: readonly ReceivedResource[], version: Version, isAll?: boolean): void {
    this.log.push(`hold ${isAll ? "all " : ""}${type.name} ${resources.map(({ name }) => name).sort()}@${version}`);
    this.#current.set(type, new Map(resources.map((resource) => [resource.name, resource])));
  }

  forgetVersions(type: ResourceType | undefined): void {
    this.log.push(type === undefined ? "forget" : `forget ${type.name}`);
  }

  status(): readonly ClientTypeStatus[] {
    return Array.from(this.#current, ([type, current]): ClientTypeStatus => {
      const asked = [...this.#wanted]
        .filter((each) => each.startsWith(`${type.name} `))
        .map((each) => each.slice(type.name.length + 1));
      return {
        type,
        version: undefined,
        isWhole: true,
        resources: current,
        wildcard: asked.includes("*"),
        names: asked.filter((name) => name !== "*"),
        states: (name) =>
          current.has(name) ? "current" : this.#absences.has(`${type.name} ${name}`) ? "absent" : "requested",
        updatedAt: () => undefined,
        rejection: () => undefined,
      };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.log.push("close");
  }

  #currentOf(type: ResourceType): Map<ResourceName, ReceivedResource> {
    const current = this.#current.get(type) ?? new Map<ResourceName, ReceivedResource>();
    this.#current.set(type, current);
    return current;
  }
}

/** Makes upstreams, and keeps each of them; the last one of a server is in use. */
export function scriptedUpstreams(): { readonly create: CreateUpstream; of(server: string): ScriptedUpstream } {
  const made: ScriptedUpstream[] = [];
  return {
    create(settings, _context, sink) {
      const upstream = new ScriptedUpstream(settings.kind === "grpc" ? settings.address : settings.kind, sink);
      made.push(upstream);
      return upstream;
    },
    of(server) {
      const last = made.findLast((each) => each.server === server);
      if (last === undefined) throw new Error(`there is no upstream ${server}`);
      return last;
    },
  };
}

/** A message as if it had come from a server. */
export function received(message: Message, version = "1"): ReceivedResource {
  return receivedResource(createResource(message), version);
}

/** A cluster whose content is told apart by a text. */
export function receivedCluster(name: string, content = ""): ReceivedResource {
  return received(create(ClusterSchema, { name, altStatName: content }));
}
