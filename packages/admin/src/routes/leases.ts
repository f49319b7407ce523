import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { WrittenLayers } from "@xdskit/server";
import { leaseJson } from "../answers/lease-json.js";
import type { ApiContext } from "../context/api-context.js";
import { maxPage, usualPage } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { leaseSchema } from "../contract/schemas.js";
import { after, createRoute, json, limit, postRoute, problems, readRoute } from "./definition.js";

const params = z.object({ id: z.string() });

const list = readRoute({
  path: "/api/v1/leases",
  summary: "Lists the leases, by id",
  request: { query: z.strictObject({ limit: limit(usualPage, maxPage), after }) },
  responses: {
    200: json(z.object({ leases: z.array(leaseSchema), next: z.string().optional() }), "A page of leases"),
    ...problems(400),
  },
});

const get = readRoute({
  path: "/api/v1/leases/{id}",
  summary: "Shows a lease",
  request: { params },
  responses: { 200: json(leaseSchema, "The lease"), ...problems(404) },
});

const renew = postRoute({
  "x-needs": "write",
  path: "/api/v1/leases/{id}/renew",
  summary: "Gives a lease its whole time again",
  request: { params },
  responses: { 200: json(leaseSchema, "The lease"), ...problems(404, 503) },
});

const end = createRoute({
  method: "delete",
  "x-needs": "write",
  path: "/api/v1/leases/{id}",
  summary: "Ends a lease: what it holds is removed",
  request: { params },
  responses: { 200: json(leaseSchema, "The lease as it was"), ...problems(404, 422, 503) },
});

/** The routes of leases. */
export function leaseRoutes(app: OpenAPIHono, context: ApiContext): void {
  const writers = () =>
    new Set(context.options.layers.flatMap(({ filled }) => (filled.by === "api" ? filled.written : [])));
  const writerOf = (id: string): WrittenLayers => {
    for (const written of writers()) if (written.lease(id) !== undefined) return written;
    throw ApiProblem.of(
      404,
      "XDSKIT_LEASE_UNKNOWN",
      `there is no lease ${JSON.stringify(id.slice(0, 100))}: it is over`,
    );
  };
  const mustMayWrite = (env: unknown, written: WrittenLayers, id: string) => {
    const lease = written.lease(id);
    if (lease !== undefined) context.mustMay(env, "write", context.layerName(lease.layer));
  };
  const show = (written: WrittenLayers, id: string) => {
    const lease = written.lease(id);
    if (lease === undefined) throw ApiProblem.of(404, "XDSKIT_LEASE_UNKNOWN", "the lease is over");
    return leaseJson(lease, context.layerName(lease.layer), lease.leftMs);
  };

  app.openapi(list, (c) => {
    const { limit: most, after: cursor = "" } = c.req.valid("query");
    const found = [...writers()].flatMap((written) => written.leases.map(({ id }) => ({ written, id })));
    const page = found.filter(({ id }) => id > cursor).sort((a, b) => (a.id < b.id ? -1 : 1));
    const shown = page.slice(0, most);
    const next = page.length > most ? { next: shown.at(-1)?.id } : {};
    return c.json({ leases: shown.map(({ written, id }) => show(written, id)), ...next }, 200);
  });

  app.openapi(get, (c) => {
    const { id } = c.req.valid("param");
    return c.json(show(writerOf(id), id), 200);
  });

  app.openapi(renew, async (c) => {
    const { id } = c.req.valid("param");
    const written = writerOf(id);
    mustMayWrite(c.env, written, id);
    await written.renewLease(id);
    return c.json(show(written, id), 200);
  });

  app.openapi(end, async (c) => {
    const { id } = c.req.valid("param");
    const written = writerOf(id);
    mustMayWrite(c.env, written, id);
    const shown = show(written, id);
    await written.endLease(id);
    return c.json(shown, 200);
  });
}
