import { z } from "@hono/zod-openapi";

export const whereSchema = z
  .object({ file: z.string(), line: z.int().optional(), column: z.int().optional() })
  .openapi("Where", { description: "A file of the folder, or `layer <name>`" });

const namedSchema = z.object({ type: z.string(), name: z.string() }).openapi("NamedResource");

const healthSchema = z
  .enum(["well", "some", "none"])
  .nullable()
  .openapi({ description: "Of endpoints: all, some or none may be used; null: it has none itself" });

export const groupResourceSchema = z
  .object({
    type: z.string().openapi({ example: "cluster" }),
    typeUrl: z.string(),
    name: z.string(),
    version: z.string(),
    layer: z.string().nullable().openapi({ description: "The layer that it comes from" }),
    summary: z.string().openapi({ description: "What it is, in a few words" }),
    uses: z.int(),
    usedBy: z.int(),
    dangling: z.array(namedSchema).openapi({ description: "What it names and the group lacks; at most 20" }),
    health: healthSchema,
    unused: z.boolean().openapi({ description: "Nothing in the group names it, and clients ask for it only by name" }),
    where: whereSchema.nullable().openapi({ description: "Where it is written, if that is known" }),
  })
  .openapi("GroupResource");

/** By what a list of resources is sorted. */
export const groupSortSchema = z
  .enum(["type", "name", "layer", "uses", "used-by"])
  .openapi({ description: "`type`: in the order of the types, and by name within a type" });

export const groupResourcesSchema = z
  .object({
    total: z.int(),
    counts: z.array(z.object({ type: z.string(), count: z.int(), dangling: z.int(), unused: z.int() })),
    resources: z.array(groupResourceSchema),
  })
  .openapi("GroupResources");

export const groupContentSchema = groupResourceSchema
  .extend({
    resource: z
      .looseObject({ "@type": z.string() })
      .openapi({ description: "JSON without secrets, with the names of fields as in protos" }),
    usesNames: z.array(namedSchema.extend({ isThere: z.boolean() })),
    usedByNames: z.array(namedSchema).openapi({ description: "At most 200" }),
  })
  .openapi("GroupContent");

export const graphSchema = z
  .object({
    nodes: z.array(
      namedSchema.extend({
        isThere: z.boolean(),
        unused: z.boolean(),
        summary: z.string(),
        health: healthSchema,
      }),
    ),
    edges: z.array(z.object({ from: z.int(), to: z.int() })).openapi({ description: "Positions in `nodes`" }),
    isCut: z.boolean().openapi({ description: "There is more than this" }),
  })
  .openapi("Graph");

export const problemEntrySchema = z
  .object({
    id: z.string().openapi({ description: "Stays the same while the problem lasts" }),
    kind: z.enum([
      "rejected",
      "change-refused",
      "store",
      "settings",
      "replica",
      "folder-differs",
      "certificate",
      "client",
      "origin",
      "rollout-halted",
      "silent",
      "restored",
      "rolled-back",
      "quarantine",
      "dangling",
      "warning",
    ]),
    severity: z.enum(["error", "warning"]),
    title: z.string(),
    detail: z.string(),
    advice: z.string().openapi({ description: "What to do" }),
    count: z.int().openapi({ description: "Of nodes, or of other things that the title names" }),
    since: z.iso.datetime().nullable(),
    expires: z.iso.datetime().nullable().openapi({ description: "When a certificate expires, or did" }),
    type: z.string().nullable().openapi({ description: "The first of `types`, or the type of the resource" }),
    types: z.array(z.string()).openapi({ description: "Of rejections and silent nodes" }),
    names: z.array(z.string()),
    nodes: z.array(z.string()).openapi({ description: "At most 20" }),
    groups: z.array(z.string()),
    where: whereSchema.nullable(),
    code: z.string().nullable().openapi({ description: "An error code: docs/errors.md" }),
  })
  .openapi("ProblemEntry");

export const problemListSchema = z
  .object({
    asOf: z.iso.datetime(),
    errors: z.int(),
    warnings: z.int(),
    problems: z.array(problemEntrySchema).openapi({ description: "The worst first; at most 500" }),
  })
  .openapi("ProblemList");
