import { create, type Message } from "@bufbuild/protobuf";
import { createResource, type ResourceName, type ResourceType, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ClientTypeStatus, type ReceivedResource, type ResourceUpdate, receivedResource } from "@xdskit/protocol";
import type { UpstreamSink } from "../upstreams/contract/upstream.js";
import type { CreateUpstream } from "../upstreams/create-upstream.js";

/** An upstream whose answers a test gives, and that writes down its requests. */
export interface ScriptedUpstream {
  readonly server: string;
  readonly sink: UpstreamSink;
  /** `+cluster a,b`, `-cluster a`, `hold cluster a,b@1`, `forget`, `forget cluster`, `close`. */
  readonly log: string[];
  /** The subscriptions, such as `cluster a`. */
  readonly wanted: ReadonlySet<string>;
  /** Answers with resources, as a present server does; with removed names; with names that do not exist. */
  answer(
    type: ResourceType,
    content: {
      readonly upserted?: readonly ReceivedResource[];
      readonly removed?: readonly ResourceName[];
      readonly absent?: readonly ResourceName[];
    },
  ): void | Promise<void>;
  /** An attempt fails. */
  fail(why?: string): void;
  readonly isClosed: boolean;
}

/** Makes upstreams, and keeps each of them; the last one of a server is in use. */
export function scriptedUpstreams(): { readonly create: CreateUpstream; of(server: string): ScriptedUpstream } {
  const made: ScriptedUpstream[] = [];
  return {
    create(settings, _context, sink) {
      const server = settings.kind === "grpc" ? settings.address : settings.kind;
      const log: string[] = [];
      const wanted = new Set<string>();
      const resources = new Map<ResourceType, Map<ResourceName, ReceivedResource>>();
      const absences = new Set<string>();
      const heldOf = (type: ResourceType) => {
        const held = resources.get(type) ?? new Map<ResourceName, ReceivedResource>();
        resources.set(type, held);
        return held;
      };
      let isClosed = false;
      made.push({
        server,
        sink,
        log,
        wanted,
        answer(type, { upserted = [], removed = [], absent = [] }) {
          sink.responded(type);
          for (const resource of upserted) heldOf(type).set(resource.name, resource);
          for (const name of removed) heldOf(type).delete(name);
          for (const name of absent) absences.add(`${type.name} ${name}`);
          const update: ResourceUpdate = {
            type,
            upserted,
            failing: [],
            removed: removed.map((name) => ({ name, reason: "removed" })),
            absent: absent.map((name) => ({ name, reason: "told", error: undefined })),
          };
          if (upserted.length + removed.length + absent.length > 0) return sink.update(update);
        },
        fail(why = "it is away") {
          sink.failed(undefined, XdskitError.of("XDSKIT_UPSTREAM_AWAY", `${server}: ${why}`), false);
        },
        get isClosed() {
          return isClosed;
        },
      });
      return {
        server,
        subscribe(type, names) {
          log.push(`+${type.name} ${names}`);
          for (const name of names) wanted.add(`${type.name} ${name}`);
        },
        unsubscribe(type, names) {
          log.push(`-${type.name} ${names}`);
          for (const name of names) wanted.delete(`${type.name} ${name}`);
          for (const name of names) heldOf(type).delete(name);
        },
        hold(type, held, version, isAll) {
          log.push(`hold ${isAll ? "all " : ""}${type.name} ${held.map(({ name }) => name).sort()}@${version}`);
          resources.set(type, new Map(held.map((resource) => [resource.name, resource])));
        },
        forgetVersions: (type) => void log.push(type === undefined ? "forget" : `forget ${type.name}`),
        status: () =>
          Array.from(resources, ([type, held]): ClientTypeStatus => {
            const asked = [...wanted]
              .filter((each) => each.startsWith(`${type.name} `))
              .map((each) => each.slice(type.name.length + 1));
            return {
              type,
              version: undefined,
              isWhole: true,
              resources: held,
              wildcard: asked.includes("*"),
              names: asked.filter((name) => name !== "*"),
              states: (name) =>
                held.has(name) ? "held" : absences.has(`${type.name} ${name}`) ? "absent" : "requested",
              updatedAt: () => undefined,
              rejection: () => undefined,
            };
          }),
        async close() {
          isClosed = true;
          log.push("close");
        },
      };
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
