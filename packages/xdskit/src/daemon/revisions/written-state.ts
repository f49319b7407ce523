import type { ApiLayer } from "@xdskit/admin";
import { countedStore, type StoreNumbers } from "@xdskit/admin/listener";
import { type Log, logFinding } from "@xdskit/admin/log";
import { type Finding, printable, type Registry, type ResourceTypes } from "@xdskit/api";
import {
  createMemoryStore,
  type KeptSource,
  type LayerName,
  type Revision,
  type Store,
  type TimeLeft,
  WrittenLayers,
  type XdsServer,
} from "@xdskit/server";
import type { Settings } from "../../settings/schema.js";
import { writtenLayers } from "../../settings/written-layers.js";
import { KeptHistory } from "./retention.js";
import { openAndRead, type ServerState, type StateOptions } from "./state.js";

interface WrittenStateOptions {
  readonly settings: Pick<Settings, "groups" | "layers" | "state">;
  readonly server: XdsServer;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly log: Log;
  /** Resolves once the other sources are applied. */
  readonly others: () => Promise<unknown>;
  /** Whether no other server has the store now. Undefined: others may have it. */
  readonly isAlone?: (() => boolean) | undefined;
  /** Asked before leases end. */
  readonly timeLeft?: TimeLeft | undefined;
  /** Called after each change. */
  readonly onRevision: (revision: Revision) => void;
}

/** The state of a server, with the layers that the API writes. */
export interface StateInUse extends ServerState {
  readonly written: WrittenLayers;
  readonly history: KeptHistory;
  /** For metrics; undefined: nothing is kept. */
  readonly numbers: (() => StoreNumbers) | undefined;
  /** Closes the store, if there is one. */
  close(): Promise<void>;
}

/**
 * Opens the state of a server, and logs what is wrong with it. Without a store, what is written lasts as long as the
 * process. Rejects as `openState` does.
 */
export async function openServedState(options: StateOptions & WrittenStateOptions): Promise<StateInUse> {
  const { state, found } = await openAndRead(options, async (opened) => {
    const counted = opened.store && countedStore(opened.store);
    const store = counted?.store ?? (await createMemoryStore());
    const history = historyOf(options, store);
    const written = await openWritten({ ...options, store, history, trouble: opened.trouble }).catch((error) => {
      history.close();
      throw error;
    });
    return { counted, written, history };
  });
  const { counted, written, history } = found;
  for (const finding of state.findings) logFinding(options.log, finding);
  const close = async () => {
    history.close();
    await state.store?.close();
  };
  return { ...state, store: counted?.store, numbers: counted?.numbers, written, history, close };
}

function historyOf({ settings, server, log }: WrittenStateOptions, store: Store): KeptHistory {
  const failed = ({ message }: Error) =>
    log.warn("revisions-kept", { reason: message }, "old revisions cannot be removed now");
  return new KeptHistory({ settings: settings.state, server, store, failed });
}

/** Makes the layers that the API writes, with what they had last. */
async function openWritten(
  options: WrittenStateOptions & Pick<StateInUse, "trouble" | "history"> & { readonly store: Store },
): Promise<WrittenLayers> {
  const { settings, server, registry, types, log } = options;
  return await WrittenLayers.open({
    server,
    registry,
    types,
    timeLeft: options.timeLeft,
    others: options.others,
    retention: options.history.now,
    isAlone: options.isAlone,
    onProblem(findings: readonly Finding[]) {
      for (const finding of findings) logFinding(log, finding);
    },
    onRevision(revision, isOwn) {
      const { id, layer, number, author, message, upserted, removed } = revision;
      const fields = { layer, revision: id, number, author: printable(author), message: printable(message) };
      const who = isOwn ? "" : " at another server of the store";
      log.info(
        "layer-changed",
        fields,
        `layer ${layer} changed${who}: ${upserted} added or changed, ${removed} removed`,
      );
      options.onRevision(revision);
    },
    onAway(finding) {
      if (finding === undefined) log.info("store-back", {}, "the store is back");
      else log.error("store-away", { reason: finding.message }, "the store is away: what is served stays as it is");
    },
    layers: writtenLayers(settings).map(({ name }) => name),
    store: options.store,
    trouble: options.trouble,
  });
}

/** A layer that a source fills. */
export interface FilledLayer {
  /** As the API calls it. */
  readonly name: string;
  readonly layer: LayerName;
  /** Undefined: its revisions are not kept. */
  readonly kept: KeptSource | undefined;
}

/** All layers of a server, from the lowest to the highest, as the API shows them. */
export function apiLayers(
  settings: Pick<Settings, "groups" | "layers">,
  written: WrittenLayers,
  filled: readonly FilledLayer[],
  { store, isDurable }: { readonly store: Store | undefined; readonly isDurable: boolean },
): readonly ApiLayer[] {
  const ofApi = writtenLayers(settings).map(
    ({ name, place }): ApiLayer => ({
      name,
      layer: name,
      place,
      durable: isDurable,
      store: written.store,
      filled: { by: "api", written },
    }),
  );
  const ofSources = filled.map(
    ({ name, layer, kept }): ApiLayer => ({
      name,
      layer,
      place: null,
      durable: isDurable,
      store,
      filled: { by: "source", kept },
    }),
  );
  const at = (place: ApiLayer["place"]) => ofApi.filter((one) => one.place === place);
  return [...at("under"), ...ofSources, ...at("over")];
}
