import { type JsonSchema, snakeCase } from "@xdskit/api";
import { defaultOrderingTimes } from "@xdskit/protocol";
import {
  defaultFolderLimits,
  defaultKeepalive,
  defaultRestOptions,
  defaultRolloutSettings,
  defaultServerLimits,
} from "@xdskit/server";
import { z } from "zod";
import { settingWords } from "./setting-words.js";

/** The schema of settings as one writes them: a duration is a text. Each key says what it is. */
export function settingsJsonSchema(title: string, schema: z.ZodType): JsonSchema {
  const plain = z.toJSONSchema(schema, { io: "input", target: "draft-7", unrepresentable: "any" });
  return { title, ...(described(plain, []) as JsonSchema) };
}

/** What a setting is, by its path. */
function wordsOf(path: readonly string[]): string | undefined {
  return longest(settingWords, path);
}

/** What holds if the setting is left out, as one would write it. */
function defaultOf(path: readonly string[]): string | number | boolean | undefined {
  return longest(settingDefaults, path);
}

function longest<Value>(of: Readonly<Record<string, Value>>, path: readonly string[]): Value | undefined {
  for (let from = 0; from < path.length; from += 1) {
    // The last word alone would be a key of the file.
    if (from > 0 && from === path.length - 1) return undefined;
    const key = path.slice(from).join(".");
    if (Object.hasOwn(of, key)) return of[key];
  }
  return undefined;
}

/** `10m`, `15s`, `800ms`. */
function writtenDuration(ms: number): string {
  if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

/** `intervalMs: 30_000` is `KEY.interval: 30s`. */
function defaultsOf(
  key: string,
  options: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string | number])[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const path = `${key}.${snakeCase(name.replace(/Ms$/, ""))}`;
    if (typeof value !== "number") return [];
    const isTime = name.endsWith("Ms") || key === "ordering";
    return [[path, isTime && Number.isFinite(value) ? writtenDuration(value) : value] as const];
  });
}

const settingDefaults: Readonly<Record<string, string | number | boolean>> = {
  ...{ ttl: "auto", resource_errors: "advertised", on_reject: "newest", on_invalid: "refuse", references: "refuse" },
  ...{ rollout: "off", csds: "on", reflection: "on", rebalance: "on", workers: 1 },
  ...Object.fromEntries(defaultsOf("limits", { ...defaultServerLimits })),
  ...Object.fromEntries(defaultsOf("keepalive", { ...defaultKeepalive })),
  "keepalive.max_age": "off",
  ...Object.fromEntries(defaultsOf("rest", { ...defaultRestOptions })),
  ...Object.fromEntries(defaultsOf("ordering", { ...defaultOrderingTimes })),
  ...Object.fromEntries(defaultsOf("rollout", { ...defaultRolloutSettings })),
  ...Object.fromEntries(defaultsOf("folder", { ...defaultFolderLimits, settleMs: 100, pollMs: 2_000 })),
  ...{ "load_reports.interval": "10s", "load_reports.clusters": "all", "load_reports.endpoints": false },
  ...{ "state.revisions": 1_000, "state.leases": 5_000, "state.age": "90d", "layers.place": "over" },
  ...{ "roles.writes_per_second": 100, "tls.client_certs": "required", "types.wildcard": true },
  ...{ "tls.sds_certificate": "default", "tls.sds_bundle": "ROOTCA" },
  ...{ "upstream.variant": "delta", "upstream.per_type": false, "upstream.api": "v3", "upstream.prefetch": false },
  ...{ "upstream.refresh_delay": "1s", "upstream.nack": "all", "upstream.ack_wait": "3s", "upstream.hold": "15s" },
  ...{ "upstream.held_bytes": 1_610_612_736, "upstream.names": 200_000, "upstream.validate": "types" },
};

function described(schema: unknown, path: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((each) => described(each, path));
  if (typeof schema !== "object" || schema === null) return schema;
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key !== "properties")
      found[key] = ["items", "anyOf", "oneOf", "allOf"].includes(key) ? described(value, path) : value;
    else
      found[key] = Object.fromEntries(
        Object.entries(value as object).map(([name, of]) => {
          const at = [...path, name];
          const about = { description: wordsOf(at), default: defaultOf(at) };
          const known = Object.entries(about).filter(([, each]) => each !== undefined);
          return [name, { ...(described(of, at) as object), ...Object.fromEntries(known) }];
        }),
      );
  }
  return found;
}
