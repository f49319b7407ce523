import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { ClientConfig } from "@xdskit/api/envoy/service/status/v3/csds";
import type { NodeRevision, SourceTrouble } from "../../contracts/nodes/node-status.js";
import type { StatusEntry } from "./status-entry.js";
import { ClientResourceStatus, ConfigStatus } from "./status-values.js";
import { summaryTypeUrl } from "./type-summary.js";

type ShownEntry = ClientConfig["genericXdsConfigs"][number];

/**
 * The part of a summary about the server itself: an entry without a type and a name, for a client without a node. A
 * message of CSDS has no other place for it, and only clients that ask for a summary get it.
 */
export function serverEntry(troubles: readonly SourceTrouble[]): StatusEntry {
  return namelessEntry(ConfigStatus.ERROR, { sources: troubles.map((trouble) => ({ ...trouble })) });
}

/** The sources in trouble of an answer; undefined if it is about a client. The peer may send anything. */
export function readServerEntry({ node, genericXdsConfigs }: ClientConfig): readonly SourceTrouble[] | undefined {
  const [entry] = genericXdsConfigs;
  return node === undefined && entry !== undefined ? readNameless(entry, "sources")?.flatMap(readTrouble) : undefined;
}

/** The revisions of a node: an entry without a type and a name, for the same reason. */
export function revisionsEntry(revisions: readonly NodeRevision[]): StatusEntry {
  return namelessEntry(ConfigStatus.UNKNOWN, { revisions: revisions.map((one) => ({ ...one })) });
}

/** Undefined if an entry has no revisions. The peer may send anything. */
export function readRevisionsEntry(entry: ShownEntry): readonly NodeRevision[] | undefined {
  return entry.name === "" ? readNameless(entry, "revisions")?.flatMap(readRevision) : undefined;
}

function namelessEntry(configStatus: StatusEntry["configStatus"], summary: JsonObject): StatusEntry {
  return {
    typeUrl: "",
    name: "",
    version: "",
    configStatus,
    clientStatus: ClientResourceStatus.UNKNOWN,
    content: { typeUrl: summaryTypeUrl, value: toBinary(StructSchema, fromJson(StructSchema, summary)) },
  };
}

/** The list that such an entry has under a key; undefined if it has none. */
function readNameless({ typeUrl, xdsConfig }: ShownEntry, key: string): readonly unknown[] | undefined {
  if (typeUrl !== "" || xdsConfig?.typeUrl !== summaryTypeUrl) return undefined;
  try {
    const summary = toJson(StructSchema, fromBinary(StructSchema, xdsConfig.value)) as JsonObject;
    const list = summary[key];
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

function readRevision(value: unknown): readonly NodeRevision[] {
  const { layer, id, number, isBefore } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof layer !== "string" || typeof id !== "string" || typeof number !== "number") return [];
  return [{ layer, id, number, isBefore: isBefore === true }];
}

function readTrouble(value: unknown): readonly SourceTrouble[] {
  const { source, kind, message } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof source !== "string" || typeof message !== "string") return [];
  const known = (["partial", "rolled-back", "silent", "incomplete"] as const).find((one) => one === kind);
  return [{ source, kind: known ?? "errors", message }];
}
