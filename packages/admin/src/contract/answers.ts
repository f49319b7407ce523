import type { z } from "@hono/zod-openapi";
import type { PostSchemas, ReadSchemas } from "./answers-by-path.js";
import type { fieldSchema } from "./field-schemas.js";
import type { rowTypeSchema, stateCountsSchema } from "./fleet-schemas.js";
import type {
  graphSchema,
  groupContentSchema,
  groupResourceSchema,
  groupResourcesSchema,
  problemEntrySchema,
  problemListSchema,
} from "./group-schemas.js";
import type {
  activitySchema,
  auditSchema,
  quarantineSchema,
  rolloutSchema,
  rolloutsSchema,
  serverSchema,
  sourceSchema,
  sourcesSchema,
} from "./page-schemas.js";
import type {
  arrivalSchema,
  changeAnswerSchema,
  changedSchema,
  changeSchema,
  diffSchema,
  findingSchema,
  groupStagesSchema,
  layerSchema,
  layersSchema,
  problemSchema,
  resourceSchema,
  resourcesSchema,
  revisionAnswerSchema,
  revisionSchema,
  revisionStagesSchema,
  revisionsSchema,
} from "./schemas.js";

/** The answers of the API, typed by the schemas of its routes, for clients in TypeScript. */
export type {
  FleetMapJson,
  FleetSummary,
  NodeContentsJson,
  NodeLoad,
  NodeResources,
  NodeRow,
  NodeRows,
  NodeSort,
  NodeStateName,
  NodeTimeline,
} from "./fleet.js";
/** The description of a field of a message. */
export type Field = z.output<typeof fieldSchema>;
/** The number of nodes in each state. */
export type StateCounts = z.output<typeof stateCountsSchema>;
/** One type of a node in a list. */
export type NodeRowType = z.output<typeof rowTypeSchema>;
/** A resource that a group is served. */
export type GroupResource = z.output<typeof groupResourceSchema>;
/** A page of them. */
export type GroupResources = z.output<typeof groupResourcesSchema>;
/** One of them with its content. */
export type GroupContent = z.output<typeof groupContentSchema>;
/** The graph of uses. */
export type GraphJson = z.output<typeof graphSchema>;
/** Something that is wrong. */
export type ProblemEntry = z.output<typeof problemEntrySchema>;
/** All that is wrong. */
export type ProblemList = z.output<typeof problemListSchema>;
/** An error or a warning about an input, with its place. */
export type FindingJson = z.output<typeof findingSchema>;
/** An error (RFC 9457). */
export type Problem = z.output<typeof problemSchema>;
/** One state of one layer. */
export type RevisionJson = z.output<typeof revisionSchema>;
/** A named set of resources. */
export type LayerJson = z.output<typeof layerSchema>;
/** All layers. */
export type LayerList = z.output<typeof layersSchema>;
/** A resource of a layer. */
export type LayerResourceJson = z.output<typeof resourceSchema>;
/** A page of them. */
export type LayerResources = z.output<typeof resourcesSchema>;
/** A page of revisions. */
export type RevisionList = z.output<typeof revisionsSchema>;
/** A revision, and a page of what it changed. */
export type RevisionAnswer = z.output<typeof revisionAnswerSchema>;
/** A page of what differs between two revisions. */
export type DiffAnswer = z.output<typeof diffSchema>;
/** The body of a change. */
export type ChangeJson = z.input<typeof changeSchema>;
/** Rollouts and quarantines. */
export type RolloutList = z.output<typeof rolloutsSchema>;
/** The change of a resource. */
export type ChangedResource = z.output<typeof changedSchema>;
/** The answer to a change. */
export type ChangeAnswer = z.output<typeof changeAnswerSchema>;
/** The stages in which the clients of a group reach a change. */
export type GroupStages = z.output<typeof groupStagesSchema>;
/** The arrival of a revision at the clients. */
export type ArrivalJson = z.output<typeof arrivalSchema>;
/** A source: a folder, or an origin. */
export type SourceJson = z.output<typeof sourceSchema>;
/** The sources of all servers. */
export type SourceList = z.output<typeof sourcesSchema>;
/** A change that goes to the nodes of a group in steps. */
export type RolloutJson = z.output<typeof rolloutSchema>;
/** A content that is held back from nodes. */
export type QuarantineJson = z.output<typeof quarantineSchema>;
/** How clients reach the server. */
export type ServerPorts = z.output<typeof serverSchema>;
/** How far the nodes are with each stage of a revision. */
export type RevisionStages = z.output<typeof revisionStagesSchema>;
/** What happened in the last half hour. */
export type ActivityJson = z.output<typeof activitySchema>;
/** Who did what. */
export type AuditJson = z.output<typeof auditSchema>;
/** What each page answers to GET, by the path of its route in the API's document. */
export type ReadAnswers = { readonly [Path in keyof ReadSchemas]: z.output<ReadSchemas[Path]> };
/** The same for POST. */
export type PostAnswers = { readonly [Path in keyof PostSchemas]: z.output<PostSchemas[Path]> };
