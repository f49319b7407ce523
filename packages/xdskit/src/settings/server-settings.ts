import type { Node } from "@xdskit/protocol";
import {
  everyNode,
  type FolderSourceOptions,
  type GroupSettings,
  type LoadReportSettings,
  type RolloutSettings,
  type ServerLimits,
  type ServerOptions,
  type ServerTls,
} from "@xdskit/server";
import { sdsSource } from "../sds/sds-source.js";
import { type LoadedSettings, pathFromSettings } from "./load-settings.js";
import type { Settings } from "./schema.js";
import { layersOfGroup } from "./written-layers.js";

/** The groups in the server's form: a folder is a layer of the same name. Without settings all nodes are one group. */
function groupSettings(settings: Settings): GroupSettings[] {
  const { groups } = settings;
  if (groups === undefined) return [{ name: everyNode, match: {}, layers: layersOfGroup(settings, everyNode) }];
  return groups.map((group) => {
    const { name, match, load_reports: loadReports, ttl, resource_errors: resourceErrors } = group;
    return {
      name,
      match,
      layers: layersOfGroup(settings, name),
      ttl,
      resourceErrors,
      ...viewSettings(group),
      ...(loadReports === undefined ? {} : { loadReports: loadReportSettings(loadReports) }),
    };
  });
}

/** Which streams get which content; missing values keep their default. */
function viewSettings({ on_reject: onReject, rollout }: Pick<Settings, "on_reject" | "rollout">) {
  return defined({
    onReject: onReject === "last_good" ? ("lastGood" as const) : onReject,
    rollout: typeof rollout === "object" ? rolloutSettings(rollout) : rollout,
  });
}

function rolloutSettings({
  steps,
  soak: soakMs,
  halt_after: haltAfter,
  timeout: timeoutMs,
}: Exclude<Settings["rollout"], "off" | undefined>): RolloutSettings {
  return { steps, ...defined({ soakMs, haltAfter, timeoutMs }) };
}

/** Every folder that a group names, once; undefined without groups, where the whole folder is one layer. */
export function layersOf({ groups }: Settings): readonly string[] | undefined {
  return groups === undefined ? undefined : [...new Set(groups.flatMap(({ folders }) => folders))];
}

/** The groups; without settings all nodes are one group. */
export function groupNames({
  groups,
}: {
  readonly groups?: readonly { readonly name: string }[] | undefined;
}): readonly string[] {
  return groups?.map(({ name }) => name) ?? [everyNode];
}

/** The groups that have one of these layers. */
export function groupsOfLayers(settings: Settings, layers: readonly string[]): readonly string[] {
  return groupNames(settings).filter((group) => layersOfGroup(settings, group).some((one) => layers.includes(one)));
}

/** Asks a group's layers, in the order in which they win over the others. */
export function whereServed<T>(
  settings: Settings,
  group: string,
  ask: (layer: string) => T | undefined,
): T | undefined {
  for (const layer of layersOfGroup(settings, group).toReversed()) {
    const found = ask(layer);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The server's options in the settings. */
export function serverOptions(settings: Settings): ServerOptions {
  const { default_node: node, rest } = settings;
  return {
    identities: settings.identities,
    groups: groupSettings(settings),
    ttl: settings.ttl,
    authorities: settings.authorities,
    resourceErrors: settings.resource_errors,
    references: settings.references,
    referencesExcept: settings.references_except,
    ...viewSettings(settings),
    limits: serverLimits(settings),
    loadReports: settings.load_reports === "off" ? false : loadReportSettings(settings.load_reports),
    clientStatus: settings.csds !== "off",
    reflection: settings.reflection !== "off",
    ordering: orderingOptions(settings),
    keepalive: keepaliveOptions(settings),
    rest: defined({ holdMs: rest?.hold, requestTimeoutMs: rest?.request_timeout }),
    defaultNode: node === undefined ? undefined : nodeNamed(node.id, node.cluster ?? ""),
  };
}

/** The certificates of the ports for clients, or of the admin listener; undefined: plaintext. */
export function serverTls<Key extends "tls" | "admin_tls">(
  loaded: Omit<LoadedSettings<Pick<Settings, Key>>, "disk">,
  key: Key,
): ServerTls | undefined {
  const tls: Settings[Key] = loaded.settings[key];
  if (tls === undefined) return undefined;
  const more: NonNullable<Settings["tls"]> = tls;
  const path = (file: string | undefined) => file && pathFromSettings(loaded, file);
  return {
    certificateFile: path(tls.cert),
    keyFile: path(tls.key),
    clientCaFile: path(tls.client_ca),
    crlFile: path(tls.crl),
    clientCertificates: more.client_certs,
    source: more.sds === undefined ? undefined : sdsSource({ ...more, sds: more.sds }),
  };
}

function keepaliveOptions({ keepalive = {} }: Settings): ServerOptions["keepalive"] {
  const { interval: intervalMs, timeout: timeoutMs, max_age: age, max_age_grace: maxAgeGraceMs } = keepalive;
  return defined({ intervalMs, timeoutMs, maxAgeMs: age === "off" ? Infinity : age, maxAgeGraceMs });
}

function orderingOptions({ ordering }: Settings): ServerOptions["ordering"] {
  if (ordering === "off") return false;
  const { acknowledgement: acknowledgementMs, linger: lingerMs, drain: drainMs, named: namedMs } = ordering ?? {};
  return defined({ acknowledgementMs, lingerMs, drainMs, namedMs });
}

function nodeNamed(id: string, cluster: string): Node {
  const locality = { region: "", zone: "", subZone: "" };
  return { id, cluster, locality, metadata: {}, userAgentName: "", userAgentVersion: "", clientFeatures: [] };
}

/** Load reports of clients; missing values keep their default. */
function loadReportSettings(settings: Exclude<Settings["load_reports"], "off">): Partial<LoadReportSettings> {
  const { interval: intervalMs, clusters, endpoints } = settings ?? {};
  return defined({ intervalMs, clusters, endpoints });
}

/** The limits on clients in the server's form; missing values keep their default. */
function serverLimits({ limits = {} }: Settings): Partial<ServerLimits> {
  const inCamelCase = (key: string) => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(limits).map(([key, value]) => [inCamelCase(key), value]));
}

/** The layers of the folder, and how it is read and watched. */
export function folderSettings(
  settings: Settings,
): Pick<FolderSourceOptions, "layers" | "groups" | "onInvalid" | "settleMs" | "pollMs" | "limits"> {
  const { folder = {}, groups, on_invalid: onInvalid } = settings;
  const { settle, poll, file_bytes: fileBytes, files, depth } = folder;
  return {
    layers: layersOf(settings),
    groups: groups?.map(({ name, folders }) => ({ name, layers: folders })),
    ...defined({ onInvalid, settleMs: settle, pollMs: poll }),
    limits: defined({ fileBytes, files, depth }),
  };
}

/** Without undefined values, which would hide the defaults. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
