import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { ClientConfig_GenericXdsConfig } from "@xdskit/api/envoy/service/status/v3/csds";
import type { NodeState, TypeReport, WaitReport } from "../contracts/node-status.js";

/**
 * The details of a type in a summary, given if it is not synced, the client is not told some TTLs, or something is
 * withheld.
 */
export interface TypeSummary {
  readonly state: NodeState;
  /** How many resources differ between what the client acknowledged and its target. */
  readonly behind: number;
  /** What is held back, and why. */
  readonly waits: readonly WaitReport[];
  /** How many of the resources have a TTL that the client is not told. */
  readonly untoldTtls: number;
  /**
   * How many resources of the group's newest snapshot are kept from the node for now, by a rollout or in quarantine.
   */
  readonly withheld: number;
}

/** The type of the `xds_config` in which an entry without a name has it. */
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
