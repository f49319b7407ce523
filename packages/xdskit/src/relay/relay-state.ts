import { hash } from "node:crypto";
import { join, resolve } from "node:path";
import type { ApiLayer } from "@xdskit/admin";
import type { Log } from "@xdskit/admin/log";
import type { Registry } from "@xdskit/api";
import type { Relay } from "@xdskit/relay";
import { AheadFile } from "@xdskit/server";
import { RevisionEvents } from "../daemon/revisions/revision-events.js";
import { ownState } from "../daemon/revisions/state.js";
import { apiLayers, openServedState, type StateInUse } from "../daemon/revisions/written-state.js";
import type { Settings } from "../settings/schema.js";
import { KeptUpstream } from "./kept-upstream.js";
import type { UpstreamSettings } from "./relay-settings.js";

interface RelayStateOptions {
  /** Where revisions are kept, or `off`; undefined: among the user's files. */
  readonly option: string | undefined;
  /** The name of this relay's state. */
  readonly own: string;
  readonly settings: Pick<Settings, "groups" | "layers" | "state">;
  readonly registry: Registry;
  readonly log: Log;
}

/** The state of a relay: the content of its origin, and the layers that the API writes. */
export interface RelayState {
  readonly state: StateInUse;
  /** By group; empty: no revisions are kept. */
  readonly kept: ReadonlyMap<string, KeptUpstream>;
  /** As the API shows them. */
  readonly layers: readonly ApiLayer[];
  readonly revisions: RevisionEvents;
  /** Adds all sources to the server; resolves once every one has brought something. */
  begin(): Promise<void>;
}

/** Opens the state of a relay. Rejects as `openState` does. */
export async function openRelayState({ server, groups }: Relay, options: RelayStateOptions): Promise<RelayState> {
  const { option, own, settings, registry, log } = options;
  const revisions = new RevisionEvents();
  let upstreams: Promise<unknown> = Promise.resolve();
  const state = await openServedState({
    option,
    own,
    problem: () => {},
    server,
    registry,
    types: server.types,
    log,
    settings,
    onRevision: revisions.tell,
    others: () => upstreams,
  });
  const { store, written, history } = state;
  const kept = new Map<string, KeptUpstream>();
  if (store !== undefined)
    for (const relayed of groups) {
      const { directory } = state;
      const ahead =
        directory === undefined
          ? undefined
          : new AheadFile(join(directory, `${hash("sha256", relayed.layer, "hex")}.ahead`));
      const ofGroup = { server, store, ahead, history, registry, log, onRevision: revisions.tell };
      kept.set(relayed.group, new KeptUpstream(relayed, ofGroup));
    }
  const filled = groups.map(({ group, layer }) => ({ name: layer, layer, kept: kept.get(group)?.source }));
  return {
    state,
    kept,
    revisions,
    layers: apiLayers(settings, written, filled, state),
    async begin() {
      upstreams = Promise.all(groups.map(({ group, source }) => server.addSource(kept.get(group)?.source ?? source)));
      // All at once: no client gets the one without the other.
      await Promise.all([upstreams, server.addSource(written)]);
    },
  };
}

/**
 * The name of a relay's state: its settings file says who it is, or else its origin and its node. With other options,
 * such as what is asked for, a relay keeps what was written to its layers.
 */
export function stateOfRelay({ servers, groups }: UpstreamSettings, settingsFile: string | undefined): string {
  if (settingsFile !== undefined) return ownState("relay", resolve(settingsFile));
  const where = servers.map((server) => {
    if (server.kind === "files") return server.files;
    return server.kind === "rest" ? server.url : server.address;
  });
  return ownState("relay", JSON.stringify([where, groups.map(({ node }) => node)]));
}
