import { usualWritesPerSecond } from "@xdskit/admin/access";
import { type JsonSchema, snakeCase } from "@xdskit/api";
import { defaultOrderingTimes } from "@xdskit/protocol";
import {
  defaultFolderLimits,
  defaultFolderTimes,
  defaultKeepalive,
  defaultLoadReportSettings,
  defaultRestOptions,
  defaultRolloutSettings,
  defaultServerLimits,
} from "@xdskit/server";
import { z } from "zod";
import { usualSecretNames } from "../sds/sds-settings.js";
import { settingWords } from "./setting-words.js";
import { usualHistory, usualUpstream } from "./usual-settings.js";

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
type Default = string | number | boolean;

function defaultOf(path: readonly string[]): Default | undefined {
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

/** `90d`, `10m`, `15s`, `800ms`; a time without an end is off. */
function writtenDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "off";
  if (ms % 86_400_000 === 0 && ms > 0) return `${ms / 86_400_000}d`;
  if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

/** `intervalMs: 30_000` is `KEY.interval: 30s`. */
function defaultsOf(key: string, options: Readonly<Record<string, unknown>>): readonly (readonly [string, Default])[] {
  return Object.entries(options).flatMap(([name, value]): readonly (readonly [string, Default])[] => {
    const path = `${key}.${snakeCase(name.replace(/Ms$/, ""))}`;
    if (typeof value === "string" || typeof value === "boolean") return [[path, value]];
    if (typeof value !== "number") return [];
    const isTime = name.endsWith("Ms") || key === "ordering";
    return [[path, isTime ? writtenDuration(value) : value]];
  });
}

const settingDefaults: Readonly<Record<string, Default>> = {
  ttl: "auto",
  resource_errors: "advertised",
  on_reject: "newest",
  on_invalid: "refuse",
  references: "refuse",
  rollout: "off",
  csds: "on",
  reflection: "on",
  rebalance: "on",
  workers: 1,
  ...Object.fromEntries(defaultsOf("limits", { ...defaultServerLimits })),
  ...Object.fromEntries(defaultsOf("keepalive", { ...defaultKeepalive })),
  ...Object.fromEntries(defaultsOf("rest", { ...defaultRestOptions })),
  ...Object.fromEntries(defaultsOf("ordering", { ...defaultOrderingTimes })),
  ...Object.fromEntries(defaultsOf("rollout", { ...defaultRolloutSettings })),
  ...Object.fromEntries(defaultsOf("folder", { ...defaultFolderLimits, ...defaultFolderTimes })),
  ...Object.fromEntries(defaultsOf("load_reports", { ...defaultLoadReportSettings })),
  ...Object.fromEntries(defaultsOf("state", usualHistory)),
  ...Object.fromEntries(defaultsOf("tls", usualSecretNames)),
  ...Object.fromEntries(defaultsOf("upstream", usualUpstream)),
  "layers.place": "over",
  "tls.client_certs": "required",
  "types.wildcard": true,
  "roles.writes_per_second": usualWritesPerSecond,
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
