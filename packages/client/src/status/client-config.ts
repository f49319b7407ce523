import { create, type JsonObject, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { canonicalName, type RedactedBody, type ResourceName, redactErrorText, redactJson } from "@xdskit/api";
import { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { type Node, NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { type ClientConfig_GenericXdsConfigSchema, ClientConfigSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import type { ClientRejection, ClientTypeStatus, ReceivedResource } from "@xdskit/protocol";
import type { XdsClient } from "../contract/xds-client.js";

/** One resource of the client. */
export type ConfigEntry = MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>;

/** Hides secrets in contents; undefined leaves contents out. */
export type Contents = RedactedBody | undefined;

/**
 * A serialized `ClientConfig` in parts: concatenated they are one message. Other work may run between two parts; each
 * type is read when its turn comes.
 */
export function* clientConfigParts(client: XdsClient, contents: Contents): Generator<Uint8Array> {
  yield toBinary(ClientConfigSchema, create(ClientConfigSchema, { node: withoutSecrets(client.node) }));
  // Reading and writing a content costs more than naming it.
  const most = contents === undefined ? 200 : 8;
  let entries: ConfigEntry[] = [];
  for (const entry of statusEntries(client, contents)) {
    entries.push(entry);
    if (entries.length < most) continue;
    yield configPart(entries);
    entries = [];
  }
  yield configPart(entries);
}

const configPart = (genericXdsConfigs: ConfigEntry[]) =>
  toBinary(ClientConfigSchema, create(ClientConfigSchema, { genericXdsConfigs }));

function withoutSecrets(node: Node): Node {
  return create(NodeSchema, { ...node, metadata: redactJson(node.metadata) as JsonObject | undefined });
}

/** The requested names and their resources: an entry for each name. Servers that a fallback replaces are left out. */
function* statusEntries(client: XdsClient, contents: Contents): Generator<ConfigEntry> {
  for (const { active, types } of client.status()) {
    if (!active) continue;
    for (const type of types)
      yield* typeEntries(type, contents, (at) => timestampFromMs(Math.round(Date.now() + at - client.now())));
  }
}

function* typeEntries(
  status: ClientTypeStatus,
  contents: Contents,
  dateOf: (at: number) => ReturnType<typeof timestampFromMs>,
): Generator<ConfigEntry> {
  const { typeUrl } = status.type;
  const reported = new Set<ResourceName>();
  const errorOf = (rejection: ClientRejection | undefined): ConfigEntry["errorState"] =>
    rejection && {
      details: redactErrorText(rejection.message),
      versionInfo: rejection.version,
      lastUpdateAttempt: dateOf(rejection.at),
    };
  for (const resource of status.resources.values()) {
    const { name, version } = resource;
    const at = status.updatedAt(name);
    const rejection = status.rejection(name);
    for (const each of [name, ...resource.aliases]) reported.add(canonicalName(each));
    yield {
      typeUrl,
      name,
      versionInfo: version,
      lastUpdated: at === undefined ? undefined : dateOf(at),
      xdsConfig: contents && shownContent(resource, contents),
      clientStatus: rejection === undefined ? ClientResourceStatus.ACKED : ClientResourceStatus.NACKED,
      errorState: errorOf(rejection),
    };
  }
  for (const name of status.names) {
    if (reported.has(canonicalName(name))) continue;
    const rejection = status.rejection(name);
    const clientStatus = clientStatuses[status.states(name)];
    yield { typeUrl, name, clientStatus, errorState: errorOf(rejection) };
  }
  const unnamed = status.rejection(undefined);
  if (unnamed !== undefined) {
    yield { typeUrl, clientStatus: ClientResourceStatus.NACKED, errorState: errorOf(unnamed) };
  }
}

/** Names without a resource. */
const clientStatuses = {
  requested: ClientResourceStatus.REQUESTED,
  absent: ClientResourceStatus.DOES_NOT_EXIST,
  rejected: ClientResourceStatus.NACKED,
  // The client has it under another name.
  current: ClientResourceStatus.ACKED,
} as const;

function shownContent(received: ReceivedResource, redacted: RedactedBody): ConfigEntry["xdsConfig"] {
  try {
    return { typeUrl: received.type.typeUrl, value: redacted(received.resource()) };
  } catch {
    // Content that cannot be read cannot be cleared of secrets either.
    return undefined;
  }
}
