import { z } from "@hono/zod-openapi";
import { type NodeState, nodeStates, resourceStates } from "@xdskit/server";
import { silentServersSchema } from "./silent-servers.js";

export const nodeStateSchema = z.enum(nodeStates).openapi("NodeState", { description: "From the best to the worst" });

/** What a group keeps from a node. */
const heldBackSchema = z
  .object({
    resources: z.int().openapi({ description: "How many of the resources that it asks for" }),
    quarantined: z.int().openapi({ description: "How many of these are in quarantine" }),
    rollout: z
      .object({
        group: z.string(),
        state: z.string(),
        step: z.int().openapi({ description: "Counted from 1" }),
        steps: z.int(),
      })
      .optional()
      .openapi({ description: "The rollout that has the others" }),
    why: z.string().optional().openapi({ description: "Why, if it is neither a rollout nor a quarantine" }),
  })
  .openapi("HeldBack");

const time = z.iso.datetime();
const milliseconds = z.number().openapi({ description: "Milliseconds" });

/** The rejection of a response. */
export const rejectionSchema = z
  .object({
    at: time,
    version: z.string(),
    message: z.string().openapi({ description: "The client's words, without secrets" }),
    blamed: z.array(z.string()).openapi({ description: "The resources that it names as wrong; at most 20" }),
    resources: z.int().openapi({ description: "How many resources of the response were new to it" }),
  })
  .openapi("Rejection");

export const rowTypeSchema = z
  .object({
    type: z.string().openapi({ example: "cluster" }),
    state: nodeStateSchema,
    resources: z.int().openapi({ description: "How many it is to have" }),
    behind: z.int().openapi({ description: "How many resources differ between what it acknowledged and its target" }),
    lagMs: milliseconds.nullable().openapi({
      description:
        "Milliseconds from the publication of the last change to its ACK, or until now while there is none; what the node asked for itself counts from when it was sent",
    }),
    why: z.string().openapi({ description: "What it waits for, or why it rejected; empty if it is synced" }),
    heldBack: heldBackSchema.optional(),
    rejected: rejectionSchema.optional(),
  })
  .openapi("NodeRowType");

/** The identity in a client's certificate. */
export const certificateSchema = z
  .object({
    subject: z.string().openapi({ example: "CN=edge-1, O=shop" }),
    names: z.array(z.string()).openapi({ description: "The alternative names", example: ["URI:spiffe://shop/edge"] }),
    validTo: time.nullable().openapi({ description: "When it ends" }),
  })
  .openapi("ClientCertificate");

export const nodeRevisionSchema = z
  .object({
    layer: z.string(),
    id: z.string().openapi({ description: "The newest revision of the layer" }),
    number: z.int(),
    isBefore: z.boolean().openapi({ description: "The node does not run it, but something from before" }),
  })
  .openapi("NodeRevision");

export const nodeRowSchema = z
  .object({
    id: z.string(),
    group: z.string(),
    cluster: z.string(),
    client: z.string().openapi({ example: "envoy 1.38.0" }),
    locality: z.string().openapi({ example: "eu/eu-1/a" }),
    replicas: z.array(z.string()).openapi({ description: "The servers that have its streams, by name" }),
    connectedSince: time,
    streams: z.int(),
    state: nodeStateSchema,
    behind: z.int(),
    lagMs: milliseconds.nullable().openapi({ description: "The longest of its types" }),
    why: z.string(),
    certificate: certificateSchema.optional().openapi({ description: "What it showed, where mutual TLS is used" }),
    types: z.array(rowTypeSchema),
    revisions: z.array(nodeRevisionSchema).optional().openapi({
      description: "With `revisions=true`: of each layer of its group that has revisions, as far as it is known",
    }),
  })
  .openapi("NodeRow");

export const stateCountsSchema = z
  .object({
    synced: z.int(),
    "held-back": z.int(),
    pending: z.int(),
    stale: z.int(),
    rejected: z.int(),
  } satisfies Record<NodeState, unknown>)
  .openapi("StateCounts");

const countedSchema = z.object({ name: z.string(), states: stateCountsSchema }).openapi("CountedNodes");

/** The numbers of nodes, by state and by every other property that lists distinguish. */
export const fleetSummarySchema = z
  .object({
    asOf: time,
    nodes: z.int(),
    states: stateCountsSchema,
    revisions: z.object({ newest: stateCountsSchema, before: stateCountsSchema }).openapi({
      description:
        "By what nodes are to run: the newest of their group, or what was before, at which a rollout or a quarantine keeps them. The states say how that was delivered: none is `held-back`",
    }),
    types: z.array(countedSchema).openapi({ description: "In the order of delivery" }),
    groups: z.array(countedSchema),
    clients: z.array(countedSchema),
    replicas: z.array(countedSchema),
    silent: silentServersSchema.openapi({ description: "Other servers that did not say which nodes they have" }),
  })
  .openapi("FleetSummary");

/** Nodes beside each other in the order of their groups and ids. */
export const mapColumnSchema = z
  .object({
    first: z.string().openapi({ description: "The id of the first node" }),
    last: z.string(),
    group: z.string(),
    nodes: z.int(),
    worst: z.array(nodeStateSchema.nullable()).openapi({
      description: "The worst state of each type; null: none of them asked for it",
    }),
    counts: z.array(stateCountsSchema).openapi({ description: "The same, counted" }),
  })
  .openapi("MapColumn");

export const fleetMapSchema = z
  .object({ asOf: time, nodes: z.int(), types: z.array(z.string()), columns: z.array(mapColumnSchema) })
  .openapi("FleetMap");

export const nodeRowsSchema = z
  .object({
    asOf: time,
    total: z.int().openapi({ description: "How many nodes fit" }),
    nodes: z.array(nodeRowSchema),
  })
  .openapi("NodeRows");

/** Selects nodes. Each field is one value, or several with commas. */
export const nodeFilterSchema = z.strictObject({
  q: z.string().max(200).optional().openapi({ description: "A part of its id, cluster, client, locality or reason" }),
  state: z.string().optional(),
  group: z.string().optional(),
  client: z.string().optional(),
  replica: z.string().optional(),
  type: z.string().optional().openapi({ description: "`state` is about this type alone" }),
  from: z.string().optional().openapi({ description: "The first id, as strings are compared" }),
  to: z.string().optional().openapi({ description: "The last id" }),
});

/** By what a list is sorted. */
export const nodeSortSchema = z
  .enum(["id", "state", "worst", "group", "client", "replica", "connected", "lag", "behind"])
  .openapi({ description: "`worst`: by state, and within a state by lag" });

/** One resource of a node. */
export const nodeResourceSchema = z
  .object({
    type: z.string(),
    name: z.string(),
    state: z.enum(resourceStates),
    version: z.string().nullable().openapi({ description: "What it is to have" }),
    acknowledged: z.string().nullable().openapi({ description: "What it is known to use" }),
    isBlamed: z.boolean().openapi({ description: "It rejects it, and names it as wrong; others only came with it" }),
  })
  .openapi("NodeResource");

export const nodeResourcesSchema = z
  .object({
    total: z.int(),
    isCut: z.boolean().openapi({ description: "Resources after the first 50,000 were not looked at" }),
    resources: z.array(nodeResourceSchema),
  })
  .openapi("NodeResources");

const content = z
  .looseObject({ "@type": z.string() })
  .openapi({ description: "JSON without secrets, with the names of fields as in protos" });

const place = z.object({ file: z.string(), line: z.int().optional(), column: z.int().optional() });

export const nodeContentsSchema = nodeResourceSchema
  .extend({
    wanted: content.nullable(),
    newest: content.nullable().openapi({ description: "What its group has: `wanted`, unless it is held back" }),
    running: content.nullable(),
    rejected: content.nullable(),
    rejection: rejectionSchema.nullable(),
    where: place.nullable().openapi({ description: "Where what it is to run is written" }),
    cause: z
      .object({
        field: z.string().openapi({ example: "endpoints[0].priority" }),
        where: place.nullable().openapi({ description: "Where this field is written" }),
      })
      .nullable()
      .openapi({ description: "The field that the client names in its words against it, if it names one" }),
  })
  .openapi("NodeContents");

export const momentRevisionSchema = nodeRevisionSchema.omit({ isBefore: true }).openapi("MomentRevision", {
  description: "The revision that brought the version, if it is known: it is since the start of the server",
});

/** Something that happened between a node and the server. */
export const momentSchema = z
  .object({
    kind: z.enum(["connected", "disconnected", "sent", "acknowledged", "rejected"]),
    at: time,
    type: z.string().optional(),
    version: z.string().optional(),
    revision: momentRevisionSchema.optional(),
    resources: z.int().optional(),
    removed: z.int().optional(),
    peer: z.string().optional(),
    service: z.string().optional(),
    message: z.string().optional(),
  })
  .openapi("NodeMoment");

export const timelineSchema = z
  .object({ isConnected: z.boolean(), moments: z.array(momentSchema).openapi({ description: "The newest first" }) })
  .openapi("NodeTimeline");

export const loadSchema = z
  .object({
    cluster: z.string(),
    at: time,
    successful: z.number(),
    errors: z.number(),
    inProgress: z.number(),
    dropped: z.number(),
  })
  .openapi("NodeLoad");

export const nodeProblemSchema = z
  .object({
    id: z.string().openapi({ description: "Stays the same while the problem lasts" }),
    kind: z.enum(["rejected", "stale"]),
    types: z.array(z.string()),
    reason: z.string().openapi({ description: "The client's words, or what it is silent about" }),
    nodes: z.int(),
    ids: z.array(z.string()).openapi({ description: "At most 20 of them" }),
    groups: z.array(z.string()),
    since: time.nullable(),
    blamed: z.array(z.string()),
    resources: z.int().openapi({ description: "How many resources the largest rejected response had" }),
  })
  .openapi("NodeProblem");

/** The servers whose nodes are missing in a list. */
export const silentNodesSchema = silentServersSchema.openapi({
  description: "Servers of the store that did not answer: what they have is missing",
});

/** A node in full. */
export const nodeSchema = z
  .looseObject({
    id: z.string(),
    cluster: z.string(),
    client: z.string(),
    group: z.string(),
    state: nodeStateSchema,
    why: z.string().openapi({ description: "What the type says that it has its state from; empty if it is synced" }),
    silent: silentNodesSchema.optional(),
    streams: z.array(z.looseObject({ id: z.int(), service: z.string(), types: z.array(z.looseObject({})) })),
  })
  .openapi("Node");
