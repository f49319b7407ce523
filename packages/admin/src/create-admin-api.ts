import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { NodeRevision } from "@xdskit/server";
import type { Context } from "hono";
import { ApiContext } from "./context/api-context.js";
import { revisionsOf, type WithRevisions, withRevisions } from "./context/node-revisions.js";
import type { AdminApiOptions } from "./contract/admin-options.js";
import { checkAdminOptions } from "./contract/option-table.js";
import type { PeerAnswers } from "./contract/peers.js";
import { ApiProblem, problemOf } from "./contract/problem.js";
import { fleetAnswers } from "./fleet/replicated-fleet.js";
import { activityRoute } from "./routes/activity.js";
import { arrivalRoute } from "./routes/arrival.js";
import { auditRoute } from "./routes/audit.js";
import { changeRoutes } from "./routes/changes.js";
import { documentRoute } from "./routes/document.js";
import { eventRoute } from "./routes/events.js";
import { fieldRoute } from "./routes/fields.js";
import { fleetRoutes } from "./routes/fleet.js";
import { groupRoutes } from "./routes/groups.js";
import { guardedApp } from "./routes/guard.js";
import { layerRoutes } from "./routes/layers.js";
import { leaseRoutes } from "./routes/leases.js";
import { nodeRoutes } from "./routes/nodes.js";
import { describePages } from "./routes/pages.js";
import { revisionStagesRoute } from "./routes/revision-stages.js";
import { revisionRoutes } from "./routes/revisions.js";
import { rollbackRoute } from "./routes/rollback.js";

/** The HTTP API of a server. */
export interface AdminApi {
  /** Answers a request below `/api/v1/`, whatever its path. Never rejects. */
  respond(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Answers questions of other servers of the store, only about the nodes with streams to this server. */
  readonly answers: PeerAnswers;
  /** By id, the newest revision of each layer of some nodes, and whether they run it: `ServerOptions.nodeRevisions`. */
  nodeRevisions(ids: readonly string[]): Promise<ReadonlyMap<string, readonly NodeRevision[]>>;
  /** Requests so far by HTTP status, and the number of readers of events now. */
  stats(): { readonly requests: ReadonlyMap<number, number>; readonly eventReaders: number };
  close(): Promise<void>;
}

/**
 * Makes the API of a server: a handler for an HTTP server, which decides who may call it. `close` ends everything that
 * it holds. Throws an XdskitError (XDSKIT_ADMIN_OPTION) if an option is wrong.
 *
 * @example
 * ```ts
 * import { createServer as createHttpServer } from "node:http";
 * import { createAdminApi } from "@xdskit/admin";
 * import { envoyRegistry } from "@xdskit/api";
 * import { createServer } from "@xdskit/server";
 *
 * const api = createAdminApi({ server: createServer(), registry: envoyRegistry(), layers: [], version: "1.0.0" });
 * createHttpServer((request, response) => void api.respond(request, response)).listen(19_000, "127.0.0.1");
 * ```
 */
export function createAdminApi(options: AdminApiOptions): AdminApi {
  checkAdminOptions(options);
  const { app, answers, nodeRevisions, stats, close } = createApp(options);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return {
    async respond(request, response) {
      await listener(request, response);
    },
    answers,
    nodeRevisions,
    stats,
    close: async () => close(),
  };
}

/** The routes, without an HTTP server. `close` ends their work. */
export function createApp(options: AdminApiOptions): {
  readonly app: OpenAPIHono;
  readonly answers: PeerAnswers;
  readonly nodeRevisions: AdminApi["nodeRevisions"];
  readonly stats: AdminApi["stats"];
  close(): void;
} {
  const context = new ApiContext(options);
  const requests = new Map<number, number>();
  const app = guardedApp(context, async (c, next) => {
    try {
      await next();
    } finally {
      context.bodies.release(c.req.raw);
    }
    requests.set(c.res.status, (requests.get(c.res.status) ?? 0) + 1);
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
  });
  app.onError((error, c) => problemAnswer(c, error));
  app.notFound((c) => problemAnswer(c, unknownPath(app, c)));
  layerRoutes(app, context);
  changeRoutes(app, context);
  revisionRoutes(app, context);
  rollbackRoute(app, context);
  leaseRoutes(app, context);
  const arrival = arrivalRoute(app, context);
  const stages = revisionStagesRoute(app, context);
  const withThem: WithRevisions = (rows) => withRevisions(context, arrival, rows);
  nodeRoutes(app, context, withThem);
  fleetRoutes(app, context, withThem);
  groupRoutes(app, context);
  fieldRoute(app, context);
  const activity = activityRoute(app, context);
  auditRoute(app, context);
  const events = eventRoute(app, context);
  describePages(app);
  documentRoute(app, options.version);
  const close = () => {
    events.close();
    activity.close();
    context.close();
  };
  const fleet = Object.entries(fleetAnswers(context.localFleet)).map(([name, answer]) => [`fleet.${name}`, answer]);
  const answers: PeerAnswers = {
    ...Object.fromEntries(fleet),
    arrival,
    stages,
    events: events.answer,
    activity: activity.answer,
  };
  const nodeRevisions: AdminApi["nodeRevisions"] = (ids) => revisionsOf(context, withThem, ids);
  return { app, answers, nodeRevisions, stats: () => ({ requests, eventReaders: events.readers() }), close };
}

function problemAnswer(c: Context, error: unknown): Response {
  const problem = problemOf(error);
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (problem.status === 401) headers["www-authenticate"] = 'Bearer realm="xdskit"';
  if (problem.status === 429 || problem.status === 503) headers["retry-after"] = "1";
  if (Array.isArray(problem.allow)) headers.allow = problem.allow.join(", ");
  return c.body(`${JSON.stringify(problem)}\n`, problem.status as 400, headers);
}

const methods = ["GET", "POST", "PUT", "DELETE"] as const;

function unknownPath(app: OpenAPIHono, c: Context): ApiProblem {
  const allow = methods.filter((method) =>
    app.router.match(method, c.req.path)[0].some(([[, { path }]]) => path !== "/*"),
  );
  const path = c.req.path.slice(0, 200);
  if (allow.length === 0) return ApiProblem.of(404, "XDSKIT_API_UNKNOWN", `there is nothing at ${path}`);
  return ApiProblem.of(405, "XDSKIT_API_UNKNOWN", `${c.req.method} is not possible at ${path}`, { allow });
}
