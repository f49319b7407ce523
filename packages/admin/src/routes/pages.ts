import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { maxPage, usualPage } from "../contract/limits.js";
import {
  eventLoopSchema,
  rolloutSchema,
  rolloutsSchema,
  serverSchema,
  sourcesSchema,
} from "../contract/page-schemas.js";
import { after, json, limit, postRoute, problems, readRoute } from "./definition.js";

/** Describes what the admin listener itself answers below `/api/v1`. */
export function describePages({ openAPIRegistry }: OpenAPIHono): void {
  openAPIRegistry.registerPath(
    readRoute({
      path: "/api/v1/sources",
      summary: "Lists the sources, and what is wrong with them",
      responses: { 200: json(sourcesSchema, "The sources"), ...problems(403) },
    }),
  );
  openAPIRegistry.registerPath(
    readRoute({
      path: "/api/v1/server",
      summary: "Says where clients reach this server",
      responses: { 200: json(serverSchema, "Its ports for clients"), ...problems(403) },
    }),
  );
  openAPIRegistry.registerPath(
    readRoute({
      path: "/api/v1/event-loop",
      summary: "Says how long clients had to wait for the server",
      responses: { 200: json(eventLoopSchema, "The longest stretches"), ...problems(403) },
    }),
  );
  openAPIRegistry.registerPath(
    readRoute({
      path: "/api/v1/rollouts",
      summary: "Lists rollouts and quarantines",
      request: { query: z.object({ limit: limit(usualPage, maxPage), after }) },
      responses: {
        200: json(rolloutsSchema, "A page: all rollouts come first, and then all quarantines"),
        ...problems(400, 403),
      },
    }),
  );
  openAPIRegistry.registerPath(
    postRoute({
      "x-needs": "operate",
      path: "/api/v1/rollouts/{group}/{action}",
      summary: "Leads the rollout of a group",
      request: {
        params: z.object({ group: z.string(), action: z.enum(["promote", "resume", "roll-back", "halt"]) }),
        query: z.object({ id: z.int().optional().openapi({ description: "Only if it is this rollout" }) }),
      },
      responses: { 200: json(rolloutSchema, "The rollout now"), ...problems(404, 409, 503) },
    }),
  );
  openAPIRegistry.registerPath(
    postRoute({
      "x-needs": "operate",
      path: "/api/v1/quarantines/lift",
      summary: "Ends the quarantines that the query selects",
      request: {
        query: z.object({ group: z.string().optional(), type: z.string().optional(), name: z.string().optional() }),
      },
      responses: { 200: json(z.object({ lifted: z.int() }), "How many"), ...problems(409) },
    }),
  );
}
