import type { ResourceType, Version } from "@xdskit/api";
import { dropOldest } from "../../basics/maps.js";
import type { Events, ServerEvent } from "../../contracts/events.js";
import type { NodeMoment } from "../../contracts/nodes/node-history.js";
import type { Progress, SentContent, StreamRecorder } from "../../contracts/parts/progress.js";
import { serviceName } from "../../contracts/transport.js";

/** The number of moments that are kept of each node. */
const maxMoments = 40;

const wanted: ReadonlySet<ServerEvent["kind"]> = new Set(["stream-opened", "stream-closed", "rejected"] as const);

/**
 * The last moments of each node. A push to thousands of streams writes one reference for each: streams that do the same
 * in the same millisecond share the moment.
 */
export class NodeHistories implements Progress {
  readonly #open = new Map<string, History>();
  /** Histories of nodes without a stream; the node that left first is the first. */
  readonly #past = new Map<string, History>();
  readonly #shared = new SharedMoments();

  constructor(events: Pick<Events, "on">) {
    events.on(
      (event) => this.#note(event),
      (kind) => wanted.has(kind),
    );
  }

  /** The history for a stream of the node to write; undefined for a node without a stream. */
  recorderOf(node: string): StreamRecorder | undefined {
    return this.#open.get(node);
  }

  /** The moments of a node, newest first; undefined if the node is not known. */
  moments(node: string): readonly NodeMoment[] | undefined {
    return (this.#open.get(node) ?? this.#past.get(node))?.newestFirst();
  }

  #note(event: ServerEvent): void {
    switch (event.kind) {
      case "stream-opened": {
        const { node, peer, method } = event.stream;
        this.#opened(node.id).add({ kind: "connected", at: Date.now(), peer, service: serviceName(method) });
        break;
      }
      case "stream-closed": {
        const { node, method } = event.stream;
        const { message } = event;
        this.#closed(node.id, { kind: "disconnected", at: Date.now(), service: serviceName(method), message });
        break;
      }
      case "rejected": {
        const { stream, type, version, message } = event;
        this.#open.get(stream.node.id)?.add({ kind: "rejected", at: Date.now(), type: type.name, version, message });
        break;
      }
    }
  }

  #opened(node: string): History {
    const known = this.#open.get(node) ?? this.#past.get(node) ?? new History(this.#shared);
    this.#past.delete(node);
    this.#open.set(node, known);
    known.streams += 1;
    return known;
  }

  #closed(node: string, moment: NodeMoment): void {
    const known = this.#open.get(node);
    if (known === undefined) return;
    known.add(moment);
    known.streams -= 1;
    if (known.streams > 0) return;
    this.#open.delete(node);
    this.#past.set(node, known);
    dropOldest(this.#past);
  }
}

/** A ring of moments. */
class History implements StreamRecorder {
  streams = 0;
  readonly #shared: SharedMoments;
  readonly #moments: NodeMoment[] = [];
  #next = 0;

  constructor(shared: SharedMoments) {
    this.#shared = shared;
  }

  add(moment: NodeMoment): void {
    this.#moments[this.#next] = moment;
    this.#next = (this.#next + 1) % maxMoments;
  }

  sent(response: SentContent, now: number): void {
    this.add(this.#shared.sent(response, now));
  }

  acknowledged(type: ResourceType, version: Version, now: number): void {
    this.add(this.#shared.acknowledged(type, version, now));
  }

  newestFirst(): readonly NodeMoment[] {
    return [...this.#moments.slice(this.#next), ...this.#moments.slice(0, this.#next)].reverse();
  }
}

/** A moment, and when it was made by the streams' clock. They know that time; to read the date for each costs more. */
interface SharedMoment<Kind extends NodeMoment["kind"]> {
  readonly now: number;
  readonly moment: Extract<NodeMoment, { readonly kind: Kind }>;
}

/** The last moment of each kind and type, for streams that do the same in the same millisecond. */
class SharedMoments {
  readonly #sent = new Map<ResourceType, SharedMoment<"sent">>();
  readonly #acknowledged = new Map<ResourceType, SharedMoment<"acknowledged">>();

  sent({ type, version, resources, removed }: SentContent, now: number): NodeMoment {
    const last = this.#sent.get(type);
    if (last?.now === now) {
      const { moment } = last;
      if (moment.version === version && moment.resources === resources && moment.removed === removed) return moment;
    }
    const moment = { kind: "sent", at: Date.now(), type: type.name, version, resources, removed } as const;
    this.#sent.set(type, { now, moment });
    return moment;
  }

  acknowledged(type: ResourceType, version: Version, now: number): NodeMoment {
    const last = this.#acknowledged.get(type);
    if (last?.now === now && last.moment.version === version) return last.moment;
    const moment = { kind: "acknowledged", at: Date.now(), type: type.name, version } as const;
    this.#acknowledged.set(type, { now, moment });
    return moment;
  }
}
