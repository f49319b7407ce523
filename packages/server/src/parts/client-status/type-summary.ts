import { fromBinary, fromJson, type JsonObject, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { ClientConfig_GenericXdsConfig } from "@xdskit/api/envoy/service/status/v3/csds";
import {
  type HeldBack,
  nodeStates,
  type RolloutAt,
  type TypeReport,
  type WaitReport,
} from "../../contracts/nodes/node-status.js";

/** The details of a type in a summary, given if it is not synced, or the client is not told some TTLs. */
export type TypeSummary = Pick<TypeReport, "state" | "why" | "behind" | "waits" | "heldBack" | "untoldTtls">;

/** The type of the `xds_config` that holds the summary, in an entry without a name. */
export const summaryTypeUrl = "type.googleapis.com/google.protobuf.Struct";

export function writeTypeSummary({ state, why, behind, waits, heldBack, untoldTtls }: TypeSummary): Uint8Array {
  // Nothing but JSON, without what is undefined.
  const summary = JSON.parse(JSON.stringify({ state, why, behind, waits, heldBack })) as JsonObject;
  if (untoldTtls > 0) summary.untoldTtls = untoldTtls;
  return toBinary(StructSchema, fromJson(StructSchema, summary));
}

/** Undefined if an entry has none, or one of another kind: the peer may send anything. */
export function readTypeSummary({ name, xdsConfig }: ClientConfig_GenericXdsConfig): TypeSummary | undefined {
  if (name !== "" || xdsConfig?.typeUrl !== summaryTypeUrl) return undefined;
  try {
    const read = toJson(StructSchema, fromBinary(StructSchema, xdsConfig.value)) as JsonObject;
    const { behind, waits, why = "", untoldTtls = 0 } = read;
    const state = nodeStates.find((one) => one === read.state);
    if (state === undefined || typeof behind !== "number" || !Array.isArray(waits)) return undefined;
    if (typeof why !== "string" || typeof untoldTtls !== "number") return undefined;
    const known = waits.flatMap((wait) => readWait(wait) ?? []);
    return { state, why, behind, waits: known, heldBack: readHeldBack(read.heldBack), untoldTtls };
  } catch {
    return undefined;
  }
}

function readHeldBack(value: JsonValue | undefined): HeldBack | undefined {
  const { resources, quarantined, rollout, why } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof resources !== "number" || typeof quarantined !== "number") return undefined;
  const held = { resources, quarantined, rollout: readRollout(rollout) };
  return typeof why === "string" ? { ...held, why } : held;
}

function readRollout(value: unknown): RolloutAt | undefined {
  const { group, state, step, steps } = (value ?? {}) as Partial<RolloutAt>;
  if (typeof group !== "string" || typeof state !== "string") return undefined;
  return typeof step === "number" && typeof steps === "number" ? { group, state, step, steps } : undefined;
}

function readWait(wait: unknown): WaitReport | undefined {
  const { kind, for: awaited, why = "" } = (wait ?? {}) as Partial<Record<string, unknown>>;
  const what = readNames(wait);
  if (!isKind(kind) || what === undefined || typeof why !== "string") return undefined;
  return { kind, ...what, for: readNames(awaited), why };
}

function readNames(value: unknown): { readonly type: string; readonly names: readonly string[] } | undefined {
  const { type, names } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof type !== "string" || !Array.isArray(names)) return undefined;
  return { type, names: names.filter((name): name is string => typeof name === "string") };
}

function isKind(value: unknown): value is WaitReport["kind"] {
  return value === "make" || value === "break" || value === "linger" || value === "named";
}
