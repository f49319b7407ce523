import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { findingSchema } from "../contract/schemas.js";
import { json } from "./definition.js";

const text = (description: string) => ({ description, content: { "text/plain": { schema: z.string() } } });

const sourceSchema = z
  .looseObject({
    name: z.string(),
    state: z.string(),
    findings: z.array(findingSchema),
    lastApplied: z.string().nullable(),
    rolledBack: z
      .object({ revision: z.string(), to: z.string(), layer: z.string(), time: z.string() })
      .nullish()
      .openapi({ description: "An older revision is served until the source changes" }),
  })
  .openapi("Source");

const rolloutSchema = z.looseObject({ group: z.string(), state: z.string() }).openapi("Rollout");
const quarantineSchema = z.looseObject({ group: z.string(), type: z.string(), name: z.string() }).openapi("Quarantine");

/** Describes what the admin listener itself answers below `/api/v1`. */
export function describePages({ openAPIRegistry: registry }: OpenAPIHono): void {
  registry.registerPath({
    method: "get",
    path: "/api/v1/sources",
    summary: "Lists the sources, and what is wrong with them",
    responses: { 200: json(z.object({ sources: z.array(sourceSchema) }), "The sources") },
  });
  registry.registerPath({
    method: "get",
    path: "/api/v1/event-loop",
    summary: "Says how long clients had to wait for the server's threads",
    responses: { 200: json(z.looseObject({}), "The longest stretches") },
  });
  registry.registerPath({
    method: "get",
    path: "/api/v1/rollouts",
    summary: "Lists rollouts and quarantines",
    responses: {
      200: json(z.object({ rollouts: z.array(rolloutSchema), quarantines: z.array(quarantineSchema) }), "Both"),
    },
  });
  registry.registerPath({
    method: "post",
    path: "/api/v1/rollouts/{group}/{action}",
    summary: "Leads the rollout of a group",
    request: {
      params: z.object({ group: z.string(), action: z.enum(["promote", "resume", "roll-back", "halt"]) }),
    },
    responses: { 200: json(rolloutSchema, "The rollout now"), 409: text("It does not apply now") },
  });
  registry.registerPath({
    method: "post",
    path: "/api/v1/quarantines/lift",
    summary: "Ends the quarantines that the query selects",
    request: {
      query: z.object({ group: z.string().optional(), type: z.string().optional(), name: z.string().optional() }),
    },
    responses: { 200: json(z.object({ lifted: z.int() }), "How many"), 409: text("There is none") },
  });
}
