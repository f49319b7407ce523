import { z } from "@hono/zod-openapi";
import type { XdskitErrorCode } from "@xdskit/api";

/** A text for who reads the document: docs/errors.md lists the codes. */
const errorCode = z.string() as unknown as z.ZodType<XdskitErrorCode>;

/** An error or a warning, with its place. */
export const findingSchema = z
  .object({
    code: errorCode.openapi({ example: "XDSKIT_RULE_BROKEN" }),
    severity: z.enum(["error", "warning"]),
    message: z.string(),
    file: z.string().optional().openapi({ description: "`body` for what was sent" }),
    line: z.int().optional(),
    column: z.int().optional(),
    field: z.string().optional().openapi({ description: "A field path in the proto's spelling" }),
    type: z.string().optional(),
    resource: z.string().optional(),
    node: z.string().optional(),
    rule: z.string().optional(),
  })
  .openapi("Finding");

/** RFC 9457. */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().openapi({ description: "The code of the first finding: docs/errors.md lists all" }),
    findings: z.array(findingSchema),
  })
  .openapi("Problem");

export const revisionSchema = z
  .object({
    id: z.string(),
    layer: z.string(),
    parent: z.string().nullable(),
    number: z.int().openapi({ description: "1 for the first revision of a layer, and one more for each after it" }),
    time: z.iso.datetime(),
    author: z.string(),
    cause: z.looseObject({ kind: z.enum(["files", "api", "rollback", "lease-ended", "source"]) }),
    message: z.string(),
    upserted: z.int(),
    removed: z.int(),
  })
  .openapi("Revision");

export const layerSchema = z
  .object({
    name: z.string(),
    writable: z.boolean(),
    place: z.enum(["over", "under"]).nullable().openapi({ description: "Where it lies against the layers of sources" }),
    durable: z.boolean().openapi({ description: "Whether its revisions survive a restart" }),
    head: revisionSchema.nullable(),
  })
  .openapi("Layer");

const resourceJson = z
  .looseObject({ "@type": z.string() })
  .openapi({ description: "Proto3 JSON without secrets; in a wrapper if it has aliases, a TTL or another name" });

/** One resource of a layer. */
export const resourceSchema = z
  .object({
    type: z.string().openapi({ description: "A type URL" }),
    name: z.string(),
    key: z.string().optional().openapi({ description: "The key of a variant" }),
    version: z.string(),
    resource: resourceJson,
  })
  .openapi("LayerResource");

export const changedSchema = z
  .object({
    type: z.string().openapi({ description: "A type URL" }),
    name: z.string(),
    key: z.string().optional(),
    change: z.enum(["added", "changed", "removed"]),
    before: resourceJson.nullable(),
    after: resourceJson.nullable(),
    served: z
      .array(
        z.object({
          groups: z.array(z.string()).openapi({ description: "At most 20" }),
          before: resourceJson.nullable(),
          after: resourceJson.nullable(),
        }),
      )
      .optional()
      .openapi({
        description:
          "What the nodes of groups are served, before and after a change, where that is not what the layer has: another layer has the resource, too. Empty: no node is served that",
      }),
  })
  .openapi("ChangedResource");

/** How many resources a change concerns. */
export const countsSchema = z.object({ added: z.int(), changed: z.int(), removed: z.int() }).openapi("ChangeCounts");

const waitSchema = z
  .object({
    kind: z.enum(["make", "break", "linger", "named"]),
    type: z.string(),
    names: z.array(z.string()),
    for: z.object({ type: z.string(), names: z.array(z.string()) }).optional(),
  })
  .openapi("Wait");

/** What clients get at once, after what they acknowledged. */
const stageSchema = z
  .object({
    after: z.array(waitSchema),
    changes: z.array(
      z.object({
        type: z.string(),
        added: z.array(z.string()),
        changed: z.array(z.string()),
        removed: z.array(z.string()),
        more: countsSchema.optional().openapi({ description: "How many further names the lists would have" }),
      }),
    ),
  })
  .openapi("Stage");

export const groupStagesSchema = z
  .object({
    group: z.string(),
    stages: z.array(stageSchema),
    waits: z.array(waitSchema).openapi({ description: "What is never sent, since it waits for itself" }),
    rollout: z
      .object({
        steps: z.array(z.looseObject({})),
        words: z.string().openapi({ example: "10 nodes first, then 50 %, all" }),
      })
      .optional()
      .openapi({ description: "The steps that it takes through the nodes; left out: it goes to all at once" }),
  })
  .openapi("GroupStages");

/** Holds resources until nobody renews it. */
export const leaseSchema = z
  .object({
    id: z.string(),
    layer: z.string(),
    ttl: z.string().openapi({ example: "30s", description: "From one renewal to its end" }),
    expires: z.iso.datetime().openapi({ description: "When it ends unless it is renewed" }),
    resources: z.array(z.object({ type: z.string(), name: z.string() })),
  })
  .openapi("Lease");

export const changeAnswerSchema = z
  .object({
    revision: revisionSchema.nullable().openapi({
      description: "The head after the change; null after a dry run, or for a layer that was never written",
    }),
    counts: countsSchema.openapi({ description: "Of all that it changed" }),
    changed: z.array(changedSchema).openapi({ description: "A page of what it changed, by type and name" }),
    next: z.string().optional().openapi({
      description: "There is more: ask a dry run again with `after`; of a change, the revision lists all",
    }),
    stages: z.array(groupStagesSchema).openapi({ description: "With the first page only" }),
    findings: z.array(findingSchema).openapi({ description: "Warnings" }),
    lease: leaseSchema.optional().openapi({ description: "The lease that holds what was put in" }),
  })
  .openapi("ChangeAnswer");

const next = z.string().optional();

/** The layers, from the lowest to the highest. */
export const layersSchema = z.object({ layers: z.array(layerSchema) });

/** A page of the resources of a layer. */
export const resourcesSchema = z.object({ resources: z.array(resourceSchema), next });

/** A page of revisions, newest first. */
export const revisionsSchema = z.object({ revisions: z.array(revisionSchema), next });

/** A revision, and a page of what it changed. */
export const revisionAnswerSchema = revisionSchema.extend({ changes: z.array(changedSchema), next });

/** A page of what differs between two revisions. */
export const diffSchema = z.object({
  from: revisionSchema,
  to: revisionSchema,
  counts: countsSchema.openapi({ description: "Of all that differs" }),
  changes: z.array(changedSchema),
  next,
  stages: z.array(groupStagesSchema).openapi({
    description:
      "How clients get from one to the other, with the other layers as they are now; with the first page only",
  }),
});

const selectorSchema = z.strictObject({ type: z.string().min(1), name: z.string().min(1) });

/** The fields of a change besides its resources and names. */
export const changeFieldsSchema = z.strictObject({
  replace: z.boolean().optional(),
  message: z.string().max(10_000).optional(),
  author: z.string().max(1_000).optional(),
  dryRun: z.boolean().optional(),
});

/** The body of a change. */
export const changeSchema = changeFieldsSchema
  .extend({
    upsert: z
      .array(z.looseObject({ "@type": z.string() }))
      .optional()
      .openapi({ description: "Resources as in the files of a folder" }),
    delete: z
      .array(selectorSchema)
      .optional()
      .openapi({ description: "`type` as people type it (`cluster`, `cds`), or a type URL" }),
    replace: z.boolean().optional().openapi({ description: "The layer holds exactly `upsert` afterwards" }),
    dryRun: z.boolean().optional().openapi({ description: "Nothing is changed; allowed for each layer" }),
  })
  .openapi("Change");

/** The body of a rollback. */
export const rollbackSchema = z
  .strictObject({
    to: z.string().optional().openapi({ description: "A revision; default: the parent of the head" }),
    message: z.string().max(10_000).optional(),
    author: z.string().max(1_000).optional(),
    dryRun: z.boolean().optional(),
  })
  .openapi("Rollback");

const arrivalCounts = z.object({
  acknowledged: z.int(),
  rejected: z.int(),
  pending: z.int(),
  "held-back": z.int().openapi({ description: "A rollout or a quarantine of their group keeps it from these" }),
});

export const arrivalSchema = z
  .object({
    revision: z.string(),
    counts: arrivalCounts,
    nodes: z
      .array(
        z.object({
          id: z.string(),
          group: z.string(),
          state: z.enum(["rejected", "pending", "held-back"]),
          message: z.string().openapi({ description: "The client's words, or what is waited for" }),
        }),
      )
      .openapi({ description: "Those that rejected it, and those that do not have it yet, at most 100 of each" }),
    uncounted: z.array(z.object({ replica: z.string(), reason: z.string() })).openapi({
      description:
        "Servers of the store that did not answer, do not serve the revision yet, or, where no node counts, started after it: they may have more nodes",
    }),
  })
  .openapi("Arrival");

export const revisionStagesSchema = z
  .object({
    revision: z.string(),
    groups: z.array(
      z.object({
        group: z.string(),
        stages: z.array(stageSchema.extend({ counts: arrivalCounts })),
      }),
    ),
  })
  .openapi("RevisionStages");
