import type { ApiLayer } from "@xdskit/admin";
import type { Finding, Registry, ResourceTypes } from "@xdskit/api";
import {
  createMemoryStore,
  type Revision,
  type Store,
  type TimeLeft,
  WrittenLayers,
  type XdsServer,
} from "@xdskit/server";
import type { Log } from "../output/log.js";
import { printable } from "../output/printable.js";
import { logFinding } from "../serving/logs/source-log.js";
import type { Settings } from "../settings/schema.js";
import { layerInApi, writtenLayers } from "../settings/written-layers.js";
import { retentionNow } from "./retention.js";
import { folderLayers, type ServedFolder } from "./served-folder.js";
import type { ServerState } from "./state.js";

interface WrittenStateOptions {
  readonly settings: Settings;
  readonly server: XdsServer;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  /** `store` undefined: what is written lasts as long as the process. */
  readonly state: Pick<ServerState, "store" | "trouble">;
  readonly log: Log;
  /** Resolves once the folder is applied. */
  readonly others: () => Promise<unknown>;
  /** Asked before leases end. */
  readonly timeLeft: TimeLeft;
  /** Called after each change. */
  readonly changed: (revision: Revision) => void;
}

/** Makes the layers that the API writes, with what they held last. */
export async function openWritten(options: WrittenStateOptions): Promise<WrittenLayers> {
  const { settings, server, registry, types, log } = options;
  const written = new WrittenLayers({
    ...{ server, registry, types, timeLeft: options.timeLeft, others: options.others, retention: retentionNow() },
    onProblem(findings: readonly Finding[]) {
      for (const finding of findings) logFinding(log, finding);
    },
    onRevision(revision, isOwn) {
      const { id, layer, number, author, message, upserted, removed } = revision;
      const fields = { layer, revision: id, number, author: printable(author), message: printable(message) };
      const who = isOwn ? "" : " at another server of the store";
      log.info(fields, `layer ${layer} changed${who}: ${upserted} added or changed, ${removed} removed`);
      options.changed(revision);
    },
    onAway(finding) {
      if (finding === undefined) log.info({}, "the store is back");
      else log.error({ reason: finding.message }, "the store is away: what is served stays as it is");
    },
    layers: writtenLayers(settings).map(({ name }) => name),
    store: options.state.store ?? (await createMemoryStore()),
    trouble: options.state.trouble,
  });
  await written.load();
  return written;
}

/** All layers of a server with a folder, from the lowest to the highest, as the API shows them. */
export function apiLayers(
  settings: Settings,
  written: WrittenLayers,
  folder: ServedFolder,
  { store, isDurable }: { readonly store: Store | undefined; readonly isDurable: boolean },
): readonly ApiLayer[] {
  const ofApi = writtenLayers(settings).map(
    ({ name, place }): ApiLayer => ({
      ...{ name, layer: name, place, durable: isDurable, store: written.store },
      filled: { by: "api", written },
    }),
  );
  const folders = folderLayers({ settings });
  const ofFolder = folders.map(
    (layer): ApiLayer => ({
      ...{ name: layerInApi(layer, folders), layer, place: null, durable: isDurable, store },
      filled: { by: "source", kept: folder.kept },
    }),
  );
  const at = (place: ApiLayer["place"]) => ofApi.filter((one) => one.place === place);
  return [...at("under"), ...ofFolder, ...at("over")];
}
