import type { ResourceName, ResourceType, Version, XdskitError } from "@xdskit/api";
import type { BadResource, ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { ClientEvent } from "../client-event.js";
import type { Upstream, UpstreamSink } from "../upstreams/upstream.js";
import type { ServerStatus } from "../xds-client.js";

/** Makes the upstream of the server at a place of the list. */
export type MakeUpstream = (place: number, sink: UpstreamSink) => Upstream;

/** What the servers of one list are asked for, and who hears what they say. */
export interface ServersOwner {
  /** What is asked for now. */
  wanted(): Iterable<readonly [type: ResourceType, names: readonly ResourceName[]]>;
  /** All that is there, and the version of its set where the first server knows it. */
  held(): Iterable<readonly [type: ResourceType, resources: readonly ReceivedResource[], version: Version]>;
  /** Rises with each change of what is held. */
  readonly revision: number;
  /** Something of the type, or of any, is asked for. */
  isWatched(type: ResourceType | undefined): boolean;
  /** Something of the type, or of any, is asked for, and another server is to be asked while this one is away: since nothing is known of it (A71), or in any case. */
  needsAnother(type: ResourceType | undefined): boolean;
  responded(type: ResourceType): void;
  update(update: ResourceUpdate, server: string): Promise<void> | undefined;
  rejected(type: ResourceType, message: string, bad: readonly BadResource[]): void;
  /** There is no server to turn to; or a file was rejected, which is an answer. */
  trouble(type: ResourceType | undefined, error: XdskitError, isAnswer: boolean): void;
  /** The stream for all types answers again. */
  recovered(): void;
  /** Another server answers: what it has rules from now on. */
  adopt(status: readonly ClientTypeStatus[], server: string): void;
  acknowledge: ((update: ResourceUpdate, server: string) => Promise<void>) | undefined;
  emit(event: () => ClientEvent): void;
}

/**
 * The servers of one list (A71): the first is asked, and each further one once all before it are away and something is asked for that is not there. The one that
 * answered is active; when one before it answers again, those behind it are left.
 */
export interface Servers {
  subscribe(type: ResourceType, names: readonly ResourceName[]): void;
  unsubscribe(type: ResourceType, names: readonly ResourceName[]): void;
  /** Something is asked for anew: it may need another server. Looks at it in a later turn, once for all that is asked for in this one. */
  reconsider(): void;
  /** Any of them is. */
  readonly isConnected: boolean;
  status(): readonly ServerStatus[];
  close(): Promise<void>;
}

interface Member {
  readonly place: number;
  readonly upstream: Upstream;
  /** Why the last attempt brought no answer: of a stream of one type, or of all (undefined). */
  readonly away: Map<ResourceType | undefined, XdskitError>;
  readonly connected: Set<ResourceType | undefined>;
  /** Of what it was last told to hold. */
  revision: number;
  left: boolean;
}

/** Makes all upstreams, so that wrong settings throw at once; none connects before something is asked of it. */
export function createServers(count: number, make: MakeUpstream, owner: ServersOwner): Servers {
  const members: Member[] = [];
  /** Those that were left and are closing. */
  const leaving = new Set<Promise<void>>();
  let active = 0;
  /** The last that is asked; -1: nothing was asked for yet. */
  let asked = -1;
  let considering = false;
  let closing: Promise<void> | undefined;

  function memberAt(place: number): Member {
    const away: Member["away"] = new Map();
    const connected: Member["connected"] = new Set();
    let member: Member | undefined;
    const upstream = make(
      place,
      sinkOf(() => member),
    );
    member = { place, upstream, away, connected, revision: -1, left: false };
    return member;
  }

  function ask(member: Member, version: (known: Version) => Version): void {
    const { upstream } = member;
    member.revision = owner.revision;
    for (const [type, resources, known] of owner.held()) upstream.hold(type, resources, version(known));
    if (member.place > 0 || asked >= 0) upstream.forgetVersions();
    for (const [type, names] of owner.wanted()) upstream.subscribe(type, names);
  }

  function sinkOf(self: () => Member | undefined): UpstreamSink {
    const server = () => self()?.upstream.server ?? "";
    /** For those that are asked, while anybody is interested. */
    const when = (action: (member: Member) => void) => {
      const member = self();
      if (member !== undefined && !member.left && closing === undefined) action(member);
    };
    const { acknowledge } = owner;
    return {
      attempting: () =>
        when((member) => {
          if (member.place === active || member.revision === owner.revision) return;
          // Another server spoke meanwhile: this one is to tell what is gone, and what differs, of what is there now.
          for (const [type, names] of owner.wanted()) member.upstream.unsubscribe(type, names);
          ask(member, () => "");
        }),
      connected: (type) =>
        when(({ connected }) => {
          connected.add(type);
          owner.emit(() => ({ kind: "connected", server: server(), type }));
        }),
      disconnected: (type, error) =>
        when(({ connected }) => {
          connected.delete(type);
          owner.emit(() => ({ kind: "disconnected", server: server(), type, error }));
        }),
      failed: (type, error, nack) =>
        when((member) => {
          owner.emit(() => ({ kind: "failed", server: server(), type, error, nack }));
          if (!nack) {
            member.away.set(type, error);
            consider();
          } else if (member.place === active) owner.trouble(type, error, true);
        }),
      responded: (type, good = 0) =>
        when((member) => {
          owner.emit(() => ({ kind: "responded", server: server(), type, good }));
          member.away.delete(type);
          // What was wrong with one stream for all types is over for all, also for those of which nothing new comes.
          if (member.away.delete(undefined) && member.place === active) owner.recovered();
          // Of several streams to a server before the active one all must be well, or the two would take turns.
          if (member.place > active) switchTo(member);
          else if (member.away.size === 0) leaveBehind(member);
          if (member.place === active) owner.responded(type);
        }),
      update(update) {
        let taken: Promise<void> | undefined;
        when((member) => {
          if (member.place === active) taken = owner.update(update, server());
        });
        return taken;
      },
      acknowledge: acknowledge && ((update) => acknowledge(update, server())),
      rejected: (type, version, message, bad) =>
        when((member) => {
          owner.emit(() => ({ kind: "rejected", server: server(), type, version, message, bad }));
          if (member.place === active) owner.rejected(type, message, bad);
        }),
    };
  }

  /** It is well: nobody behind it need be asked. */
  function leaveBehind(member: Member): void {
    if (member.place < active) switchTo(member);
    else if (asked > member.place) leaveAfter(member);
  }

  function leaveAfter(member: Member): void {
    asked = member.place;
    for (const later of members.splice(member.place + 1)) leave(later);
    for (let place = members.length; place < count; place += 1) members.push(memberAt(place));
  }

  function switchTo(member: Member): void {
    const from = members[active]?.upstream.server ?? "";
    const to = member.upstream.server;
    active = member.place;
    leaveAfter(member);
    owner.emit(() => ({ kind: "switched", from, to }));
    // After the answer that made the difference.
    queueMicrotask(() => {
      if (member.place === active && !member.left && closing === undefined) owner.adopt(member.upstream.status(), to);
    });
  }

  function leave(member: Member): void {
    member.left = true;
    for (const type of member.connected) {
      owner.emit(() => ({ kind: "disconnected", server: member.upstream.server, type, error: undefined }));
    }
    const closed = member.upstream.close();
    leaving.add(closed);
    void closed.finally(() => leaving.delete(closed));
  }

  function consider(): void {
    const last = members[asked];
    if (last === undefined) return;
    for (const [type, error] of last.away) {
      const next = members[asked + 1];
      if (next !== undefined && owner.needsAnother(type)) {
        asked += 1;
        ask(next, () => "");
        return;
      }
      owner.trouble(type, error, false);
    }
  }

  for (let place = 0; place < count; place += 1) members.push(memberAt(place));

  return {
    subscribe(type, names) {
      const first = members[0];
      if (asked < 0 && first !== undefined) {
        // What is asked for already holds these names.
        ask(first, (version) => version);
        asked = 0;
        return;
      }
      for (const { place, upstream } of members) if (place <= asked) upstream.subscribe(type, names);
    },
    unsubscribe(type, names) {
      for (const { place, upstream, away } of members) {
        if (place > asked) break;
        upstream.unsubscribe(type, names);
        // Nobody tries to reach it any more: how it is when somebody asks again is not known.
        for (const each of away.keys()) if (!owner.isWatched(each)) away.delete(each);
      }
    },
    reconsider() {
      if (considering) return;
      considering = true;
      queueMicrotask(() => {
        considering = false;
        if (closing === undefined) consider();
      });
    },
    get isConnected() {
      return members.some(({ connected }) => connected.size > 0);
    },
    status() {
      return members.map(({ place, upstream, connected }) => ({
        server: upstream.server,
        connected: connected.size > 0,
        active: place === active,
        types: upstream.status(),
      }));
    },
    close() {
      if (closing === undefined) {
        const open = members.map((member) => member.upstream.close());
        for (const { connected, upstream } of members) {
          for (const type of connected)
            owner.emit(() => ({ kind: "disconnected", server: upstream.server, type, error: undefined }));
        }
        closing = Promise.all([...open, ...leaving]).then(() => {});
      }
      return closing;
    },
  };
}
