import { z } from "@hono/zod-openapi";
import { findingSchema } from "./schemas.js";
import { silentServersSchema } from "./silent-servers.js";

const moment = z.iso.datetime();

const rolledBackSchema = z
  .object({ revision: z.string(), to: z.string(), layer: z.string(), time: moment })
  .openapi({ description: "An older revision is served until the source changes" });

/** A source: a folder, or the origin of a relay's group. */
export const sourceSchema = z
  .looseObject({
    name: z.string(),
    replica: z.string().optional().openapi({ description: "The server that reads it, if there are several" }),
    state: z.string().openapi({
      description:
        "A folder: `pending`, `applied`, `partial`, `refused`. An origin, or a cluster of Kubernetes: `pending`, `cached`, `connected`, `away`",
    }),
    findings: z.array(findingSchema),
    lastError: z.object({ at: moment, message: z.string() }).nullish(),
    lastApplied: moment.nullable(),
    asOf: moment.nullish().openapi({ description: "Of a cluster of Kubernetes: what is served is of then, or later" }),
    skipped: z
      .object({ lastGood: z.int(), absent: z.int() })
      .nullish()
      .openapi({ description: "Resources that are skipped for their errors" }),
    restored: z
      .object({ revision: z.string(), time: moment })
      .nullish()
      .openapi({ description: "The last good revision is served since a start with errors" }),
    rolledBack: rolledBackSchema.nullish(),
    directory: z.string().optional(),
    files: z.int().optional(),
    lastRead: moment.nullish(),
    adopted: z.array(z.looseObject({ file: z.string() })).optional(),
    resources: z
      .record(z.string(), z.union([z.int(), z.record(z.string(), z.int())]))
      .optional()
      .openapi({ description: "Of a folder by layer and type, of an origin by type" }),
    group: z.string().optional().openapi({ description: "The group that an origin's resources are for" }),
    servers: z.array(z.object({ server: z.string(), connected: z.boolean(), active: z.boolean() })).optional(),
  })
  .openapi("Source");

const silentServers = silentServersSchema
  .optional()
  .openapi({ description: "Servers that did not answer: what they know is missing" });

export const sourcesSchema = z.object({ sources: z.array(sourceSchema), silent: silentServers });

const named = z.looseObject({ type: z.string(), name: z.string() });

export const rolloutSchema = z
  .looseObject({
    id: z.int(),
    group: z.string(),
    state: z.enum(["waiting", "soaking", "halted", "completed", "rolled-back", "withdrawn"]),
    reason: z.string().openapi({ description: "Why it halted" }),
    step: z.int().openapi({ description: "From 1" }),
    steps: z.array(z.looseObject({})),
    startedAt: moment,
    since: moment,
    changed: z.int().openapi({ description: "How many resources it changes" }),
    resources: z.array(named).openapi({ description: "At most 100" }),
    nodes: z.object({ reached: z.int(), pending: z.int(), rejected: z.int(), held: z.int() }),
    waitsFor: z.array(z.string()).openapi({ description: "Nodes, at most 100" }),
    rejections: z
      .array(
        z.looseObject({
          node: z.string(),
          type: z.string(),
          version: z.string(),
          code: z.int(),
          message: z.string(),
          at: moment,
        }),
      )
      .openapi({ description: "At most 100" }),
  })
  .openapi("Rollout");

export const quarantineSchema = z
  .looseObject({
    group: z.string(),
    type: z.string(),
    name: z.string(),
    version: z.string().optional().openapi({ description: "Missing: that the resource is gone" }),
    instead: z.string().optional().openapi({ description: "What they are given in its place; missing: nothing" }),
    cause: z.enum(["rejected", "rolled-back"]),
    since: moment,
    node: z.string(),
    message: z.string(),
  })
  .openapi("Quarantine");

/** Rollouts and quarantines. */
export const rolloutsSchema = z.object({
  rollouts: z.array(rolloutSchema),
  quarantines: z.array(quarantineSchema),
  next: z.string().optional().openapi({ description: "`after` of the next page" }),
  silent: silentServers,
});

const listening = z.string().nullable();

export const serverSchema = z
  .object({
    name: z.string().nullable().openapi({ description: "`--name`; null: it has none" }),
    version: z.string().openapi({ description: "Of xdskit" }),
    grpc: listening.openapi({ description: "`HOST:PORT` as it listens; null: not yet" }),
    rest: listening.openapi({ description: "The same for REST; null: not yet, or not at all" }),
    tls: z.enum(["off", "server", "mutual"]).openapi({
      description: "Of both. `mutual`: clients must show a certificate",
    }),
  })
  .openapi("Server");

const blockSchema = z.looseObject({
  at: moment,
  ms: z.number(),
  gcMs: z.number(),
  cpuMs: z.number(),
  work: z.looseObject({}),
});

/** How long clients had to wait for the server. Empty if it is not measured. */
export const eventLoopSchema = z
  .object({
    blockedMs: z.number(),
    blocks: z.object({ work: z.int(), gc: z.int() }),
    blockedForMs: z.number(),
    longestMs: z.number(),
    lastMinuteMs: z.number(),
    p50Ms: z.number(),
    p99Ms: z.number(),
    recent: z.array(blockSchema),
  })
  .partial()
  .openapi("EventLoop");

/** What happened in the last half hour. */
export const activitySchema = z
  .object({
    stepMs: z.int().openapi({ description: "How long a sample is, in milliseconds" }),
    samples: z.array(
      z.object({
        at: moment.openapi({ description: "When it began" }),
        pushes: z.int().openapi({ description: "Responses that were sent, without heartbeats" }),
        rejections: z.int(),
        heldBack: z.int().openapi({ description: "The most nodes from which rollouts kept something back" }),
      }),
    ),
    changes: z
      .array(z.object({ id: z.string(), layer: z.string(), number: z.int(), at: moment, author: z.string() }))
      .openapi({ description: "The newest 100 revisions of that time" }),
  })
  .openapi("Activity");

/** Who did what. */
export const auditSchema = z
  .object({
    isKept: z.boolean().openapi({ description: "Whether this server keeps its audit in a file" }),
    isWhole: z.boolean().openapi({ description: "Whether there are no older entries" }),
    entries: z.array(
      z.object({
        time: moment,
        who: z.string().nullable().openapi({ description: "As it was proved; null: nobody was known" }),
        rule: z.string().nullable().openapi({ description: "The rule that let it in, or that refused it" }),
        from: z.string().openapi({ description: "Its address" }),
        action: z.string(),
        target: z.string(),
        result: z.enum(["done", "refused", "failed"]),
        status: z.int().optional(),
        lost: z.int().optional().openapi({ description: "How many entries are missing before this one" }),
      }),
    ),
  })
  .openapi("Audit");
