import type { ResourceName, ResourceType, Version, XdskitError } from "@xdskit/api";
import type { BadResource, ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { ServerStatus } from "../contract/xds-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { RetainedResources } from "../options/client-options.js";
import type { Upstream, UpstreamSink } from "../upstreams/contract/upstream.js";

/** Makes the upstream of the server at a position of the list. */
export type MakeUpstream = (position: number, sink: UpstreamSink) => Upstream;

/** What the first server knows of the set of a type. */
export type RetainedVersion = Pick<RetainedResources, "version" | "isAll">;

/** The origin's side for the servers of one list. */
export interface ServersOwner {
  /** The names that are wanted now, of the type or of all. */
  wanted(type: ResourceType | undefined): Iterable<readonly [type: ResourceType, names: readonly ResourceName[]]>;
  /** The current resources of the type or of all, and the version of their set if the first server knows it. */
  current(
    type: ResourceType | undefined,
  ): Iterable<readonly [type: ResourceType, resources: readonly ReceivedResource[], known: RetainedVersion]>;
  /** Rises with each change of the current resources of the type, or of any type. */
  revision(type: ResourceType | undefined): number;
  /** Whether the type, or any type, is watched. */
  isWatched(type: ResourceType | undefined): boolean;
  /**
   * Whether to ask another server for the type, or for any type, while this one is away: a resource is missing (A71),
   * or in any case.
   */
  needsAnother(type: ResourceType | undefined): boolean;
  responded(type: ResourceType): void;
  update(update: ResourceUpdate, server: string): Promise<void> | undefined;
  rejected(type: ResourceType, message: string, bad: readonly BadResource[]): void;
  /** No server is left to ask, or a file was rejected, which counts as an answer. */
  trouble(type: ResourceType | undefined, error: XdskitError, isAnswer: boolean): void;
  /** The stream for all types answers again. */
  recovered(): void;
  /** Another server answers: its resources replace the old ones from now on. */
  adopt(status: readonly ClientTypeStatus[], server: string): void;
  acknowledge: ((update: ResourceUpdate, server: string) => Promise<void>) | undefined;
  emit(event: () => ClientEvent): void;
}

interface RankedServer {
  readonly position: number;
  readonly upstream: Upstream;
  /** Why the last attempt brought no answer, for a stream of one type or of all types (undefined). */
  readonly away: Map<ResourceType | undefined, XdskitError>;
  readonly connected: Set<ResourceType | undefined>;
  /** The last revision that it was told to hold, of each type and of all (undefined). */
  readonly revisions: Map<ResourceType | undefined, number>;
  left: boolean;
}

/**
 * The servers of one list (A71). The client asks the first, and each further server once all before it are away and a
 * wanted resource is missing. The server that answered is active; when a server before it answers again, the client
 * leaves those after it. Makes all upstreams, so that wrong settings throw at once; none connects before it is asked
 * for a name.
 */
export class Servers {
  readonly #count: number;
  readonly #make: MakeUpstream;
  readonly #owner: ServersOwner;
  readonly #members: RankedServer[] = [];
  /** Servers that were left and are closing. */
  readonly #leaving = new Set<Promise<void>>();
  #active = 0;
  /** The position of the last server that is asked; -1 before the first request. */
  #asked: number = -1;
  #considering = false;
  #closing: Promise<void> | undefined;

  constructor(count: number, make: MakeUpstream, owner: ServersOwner) {
    this.#count = count;
    this.#make = make;
    this.#owner = owner;
    for (let position = 0; position < count; position += 1) this.#members.push(this.#memberAt(position));
  }

  #memberAt(position: number): RankedServer {
    const away: RankedServer["away"] = new Map();
    const connected: RankedServer["connected"] = new Set();
    let member: RankedServer | undefined;
    const upstream = this.#make(
      position,
      this.#sinkOf(() => member),
    );
    member = { position, upstream, away, connected, revisions: new Map(), left: false };
    return member;
  }

  /** Tells a server the current resources and the wanted names, of one type or of all. */
  #ask(member: RankedServer, type: ResourceType | undefined, version: (known: Version) => Version): void {
    const { upstream, revisions } = member;
    const owner = this.#owner;
    const wanted = [...owner.wanted(type)];
    for (const each of [type, ...wanted.map(([one]) => one)]) revisions.set(each, owner.revision(each));
    for (const [each, resources, known] of owner.current(type))
      upstream.hold(each, resources, version(known.version), known.isAll);
    if (member.position > 0 || this.#asked >= 0) upstream.forgetVersions(type);
    for (const [each, names] of wanted) upstream.subscribe(each, names);
  }

  #sinkOf(self: () => RankedServer | undefined): UpstreamSink {
    const server = () => self()?.upstream.server ?? "";
    /** Runs for a server in use, until the client closes. */
    const when = (action: (member: RankedServer) => void) => {
      const member = self();
      if (member !== undefined && !member.left && this.#closing === undefined) action(member);
    };
    const { acknowledge } = this.#owner;
    return {
      attempting: (type) =>
        when((member) => {
          const { position, revisions, upstream } = member;
          if (position === this.#active || (revisions.get(type) ?? 0) === this.#owner.revision(type)) return;
          // Another server answered meanwhile: this server must report its differences from the present resources.
          for (const [each, names] of this.#owner.wanted(type)) upstream.unsubscribe(each, names);
          this.#ask(member, type, () => "");
        }),
      connected: (type) =>
        when(({ connected }) => {
          connected.add(type);
          this.#owner.emit(() => ({ kind: "connected", server: server(), type }));
        }),
      disconnected: (type, error) =>
        when(({ connected }) => {
          connected.delete(type);
          this.#owner.emit(() => ({ kind: "disconnected", server: server(), type, error }));
        }),
      failed: (type, error, nack) =>
        when((member) => {
          this.#owner.emit(() => ({ kind: "failed", server: server(), type, error, nack }));
          if (!nack) {
            member.away.set(type, error);
            this.#consider();
          } else if (member.position === this.#active) this.#owner.trouble(type, error, true);
        }),
      responded: (type, good = 0) =>
        when((member) => {
          this.#owner.emit(() => ({ kind: "responded", server: server(), type, good }));
          member.away.delete(type);
          // On one stream for all types, the trouble is over for every type, even for those without news.
          if (member.away.delete(undefined) && member.position === this.#active) this.#owner.recovered();
          // All streams to a server before the active one must be well, or the two servers would take turns.
          if (member.position > this.#active) this.#switchTo(member);
          else if (member.away.size === 0) this.#leaveBehind(member);
          if (member.position === this.#active) this.#owner.responded(type);
        }),
      update: (update) => {
        let taken: Promise<void> | undefined;
        when((member) => {
          if (member.position === this.#active) taken = this.#owner.update(update, server());
        });
        return taken;
      },
      acknowledge: acknowledge && ((update) => acknowledge(update, server())),
      rejected: (type, version, message, bad) =>
        when((member) => {
          this.#owner.emit(() => ({ kind: "rejected", server: server(), type, version, message, bad }));
          if (member.position === this.#active) this.#owner.rejected(type, message, bad);
        }),
    };
  }

  /** The server is well: the ones after it are not needed. */
  #leaveBehind(member: RankedServer): void {
    if (member.position < this.#active) this.#switchTo(member);
    else if (this.#asked > member.position) this.#leaveAfter(member);
  }

  #leaveAfter(member: RankedServer): void {
    this.#asked = member.position;
    for (const later of this.#members.splice(member.position + 1)) this.#leave(later);
    for (let position = this.#members.length; position < this.#count; position += 1)
      this.#members.push(this.#memberAt(position));
  }

  #switchTo(member: RankedServer): void {
    const from = this.#members[this.#active]?.upstream.server ?? "";
    const to = member.upstream.server;
    this.#active = member.position;
    this.#leaveAfter(member);
    this.#owner.emit(() => ({ kind: "switched", from, to }));
    // After the answer that caused it.
    queueMicrotask(() => {
      if (member.position === this.#active && !member.left && this.#closing === undefined)
        this.#owner.adopt(member.upstream.status(), to);
    });
  }

  #leave(member: RankedServer): void {
    member.left = true;
    for (const type of member.connected) {
      this.#owner.emit(() => ({ kind: "disconnected", server: member.upstream.server, type, error: undefined }));
    }
    const closed = member.upstream.close();
    this.#leaving.add(closed);
    void closed.finally(() => this.#leaving.delete(closed));
  }

  #consider(): void {
    const last = this.#members[this.#asked];
    if (last === undefined) return;
    for (const [type, error] of last.away) {
      const next = this.#members[this.#asked + 1];
      if (next !== undefined && this.#owner.needsAnother(type)) {
        this.#asked += 1;
        this.#ask(next, undefined, () => "");
        return;
      }
      this.#owner.trouble(type, error, false);
    }
  }

  subscribe(type: ResourceType, names: readonly ResourceName[]): void {
    const first = this.#members[0];
    if (this.#asked < 0 && first !== undefined) {
      // The subscription already has these names.
      this.#ask(first, undefined, (version) => version);
      this.#asked = 0;
      return;
    }
    for (const { position, upstream } of this.#members) if (position <= this.#asked) upstream.subscribe(type, names);
  }

  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void {
    for (const { position, upstream, away } of this.#members) {
      if (position > this.#asked) break;
      upstream.unsubscribe(type, names);
      // The client does not try to reach it any more, so its state at the next attempt is unknown.
      for (const each of away.keys()) if (!this.#owner.isWatched(each)) away.delete(each);
    }
  }

  /** A new name is wanted, which may need another server. Checked in a later turn, once for all names of this turn. */
  reconsider(): void {
    if (this.#considering) return;
    this.#considering = true;
    queueMicrotask(() => {
      this.#considering = false;
      if (this.#closing === undefined) this.#consider();
    });
  }

  /** Whether any server is connected. */
  get isConnected(): boolean {
    return this.#members.some(({ connected }) => connected.size > 0);
  }

  status(): readonly ServerStatus[] {
    return this.#members.map(({ position, upstream, connected }) => ({
      server: upstream.server,
      connected: connected.size > 0,
      active: position === this.#active,
      types: upstream.status(),
    }));
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      const open = this.#members.map((member) => member.upstream.close());
      for (const { connected, upstream } of this.#members) {
        for (const type of connected)
          this.#owner.emit(() => ({ kind: "disconnected", server: upstream.server, type, error: undefined }));
      }
      this.#closing = Promise.all([...open, ...this.#leaving]).then(() => {});
    }
    return this.#closing;
  }
}
