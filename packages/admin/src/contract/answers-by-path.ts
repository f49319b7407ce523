import type { fieldSchema } from "./field-schemas.js";
import type {
  fleetMapSchema,
  fleetSummarySchema,
  nodeContentsSchema,
  nodeResourcesSchema,
  nodeRowSchema,
  nodeRowsSchema,
  nodeSchema,
  timelineSchema,
} from "./fleet-schemas.js";
import type { graphSchema, groupContentSchema, groupResourcesSchema, problemListSchema } from "./group-schemas.js";
import type {
  activitySchema,
  auditSchema,
  eventLoopSchema,
  rolloutSchema,
  rolloutsSchema,
  serverSchema,
  sourcesSchema,
} from "./page-schemas.js";
import type {
  arrivalSchema,
  changeAnswerSchema,
  diffSchema,
  layersSchema,
  leaseSchema,
  resourceSchema,
  resourcesSchema,
  revisionAnswerSchema,
  revisionStagesSchema,
  revisionsSchema,
} from "./schemas.js";

/** The schema of what the API answers to GET with JSON, by the path of the route: `readRoute` holds it to that. */
export interface ReadSchemas {
  readonly "/api/v1/activity": typeof activitySchema;
  readonly "/api/v1/audit": typeof auditSchema;
  readonly "/api/v1/diff": typeof diffSchema;
  readonly "/api/v1/event-loop": typeof eventLoopSchema;
  readonly "/api/v1/fields/{message}/{path}": typeof fieldSchema;
  readonly "/api/v1/fleet/map": typeof fleetMapSchema;
  readonly "/api/v1/fleet/nodes": typeof nodeRowsSchema;
  readonly "/api/v1/fleet/summary": typeof fleetSummarySchema;
  readonly "/api/v1/groups/{group}/graph": typeof graphSchema;
  readonly "/api/v1/groups/{group}/resources": typeof groupResourcesSchema;
  readonly "/api/v1/groups/{group}/resources/{type}/{name}": typeof groupContentSchema;
  readonly "/api/v1/layers": typeof layersSchema;
  readonly "/api/v1/layers/{layer}/resources": typeof resourcesSchema;
  readonly "/api/v1/layers/{layer}/resources/{type}/{name}": typeof resourceSchema;
  readonly "/api/v1/leases/{id}": typeof leaseSchema;
  readonly "/api/v1/nodes/{id}": typeof nodeSchema;
  readonly "/api/v1/nodes/{id}/resources": typeof nodeResourcesSchema;
  readonly "/api/v1/nodes/{id}/resources/{type}/{name}": typeof nodeContentsSchema;
  readonly "/api/v1/nodes/{id}/summary": typeof nodeRowSchema;
  readonly "/api/v1/nodes/{id}/timeline": typeof timelineSchema;
  readonly "/api/v1/problems": typeof problemListSchema;
  readonly "/api/v1/revisions": typeof revisionsSchema;
  readonly "/api/v1/revisions/{id}": typeof revisionAnswerSchema;
  readonly "/api/v1/revisions/{id}/arrival": typeof arrivalSchema;
  readonly "/api/v1/revisions/{id}/stages": typeof revisionStagesSchema;
  readonly "/api/v1/rollouts": typeof rolloutsSchema;
  readonly "/api/v1/server": typeof serverSchema;
  readonly "/api/v1/sources": typeof sourcesSchema;
}

/** The same for POST, and `createRoute`. */
export interface PostSchemas {
  readonly "/api/v1/layers/{layer}/changes": typeof changeAnswerSchema;
  readonly "/api/v1/layers/{layer}/rollback": typeof changeAnswerSchema;
  readonly "/api/v1/leases/{id}/renew": typeof leaseSchema;
  readonly "/api/v1/rollouts/{group}/{action}": typeof rolloutSchema;
}
