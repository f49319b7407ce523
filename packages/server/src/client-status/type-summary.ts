import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { ClientConfig_GenericXdsConfig } from "@xdskit/api/envoy/service/status/v3/csds";
import type { NodeState, TypeReport, WaitReport } from "../contracts/nodes/node-status.js";

/**
 * The details of a type in a summary, given if it is not synced, the client is not told some TTLs, or a rollout or a
 * quarantine withholds something.
 */
export interface TypeSummary extends Pick<TypeReport, "state" | "behind" | "waits" | "untoldTtls"> {
  /** The number of resources of the group's newest snapshot that a rollout or a quarantine withholds for now. */
  readonly withheld: number;
}

/** The type of the `xds_config` that holds the summary, in an entry without a name. */
export const summaryTypeUrl = "type.googleapis.com/google.protobuf.Struct";

export function writeTypeSummary({ state, behind, waits, untoldTtls }: TypeReport, withheld: number): Uint8Array {
  const told = waits.map(({ kind, type, names, for: awaited }) => ({
    kind,
    type,
    names: [...names],
    ...(awaited === undefined ? {} : { for: { type: awaited.type, names: [...awaited.names] } }),
  }));
  const summary: JsonObject = { state, behind, waits: told };
  if (untoldTtls > 0) summary.untoldTtls = untoldTtls;
  if (withheld > 0) summary.withheld = withheld;
  return toBinary(StructSchema, fromJson(StructSchema, summary));
}

/** Undefined if an entry has none, or one of another kind: the peer may send anything. */
export function readTypeSummary({ name, xdsConfig }: ClientConfig_GenericXdsConfig): TypeSummary | undefined {
  if (name !== "" || xdsConfig?.typeUrl !== summaryTypeUrl) return undefined;
  try {
    const {
      state,
      behind,
      waits,
      untoldTtls = 0,
      withheld = 0,
    } = toJson(StructSchema, fromBinary(StructSchema, xdsConfig.value)) as JsonObject;
    if (!isState(state) || typeof behind !== "number" || !Array.isArray(waits)) return undefined;
    if (typeof untoldTtls !== "number" || typeof withheld !== "number") return undefined;
    return { state, behind, waits: waits.flatMap((wait) => readWait(wait) ?? []), untoldTtls, withheld };
  } catch {
    return undefined;
  }
}

function readWait(wait: unknown): WaitReport | undefined {
  const { kind, for: awaited } = (wait ?? {}) as Partial<Record<string, unknown>>;
  const what = readNames(wait);
  if (!isKind(kind) || what === undefined) return undefined;
  return { kind, ...what, for: readNames(awaited) };
}

function readNames(value: unknown): { readonly type: string; readonly names: readonly string[] } | undefined {
  const { type, names } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof type !== "string" || !Array.isArray(names)) return undefined;
  return { type, names: names.filter((name): name is string => typeof name === "string") };
}

function isState(value: unknown): value is NodeState {
  return value === "synced" || value === "pending" || value === "rejected" || value === "stale";
}

function isKind(value: unknown): value is WaitReport["kind"] {
  return value === "make" || value === "break" || value === "linger" || value === "named";
}
