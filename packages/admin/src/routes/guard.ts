import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiContext } from "../context/api-context.js";
import { mustHaveOnly } from "../contract/known-values.js";
import type { NeedyRoute } from "./definition.js";

/**
 * Lets a request through only if its caller may do what its route needs, and if the route has all its parameters. Call
 * it before the routes are there.
 */
export function guardRoutes(app: OpenAPIHono, context: ApiContext): void {
  let known: ReadonlyMap<string, NeedyRoute> | undefined;
  app.use(async (c, next) => {
    const method = c.req.method === "HEAD" ? "GET" : c.req.method;
    const routes = app.router.match(method, c.req.path)[0].map(([[, route]]) => route);
    known ??= routesOf(app);
    const wanted = routes.filter(({ path }) => path !== "/*").map(({ path }) => known?.get(`${method} ${path}`));
    const [route] = wanted;
    // Whatever is not there needs somebody who is known.
    const need = wanted.length === 0 ? undefined : (route?.["x-needs"] ?? "nothing");
    context.mustMay(c.env, need);
    if (route !== undefined) mustHaveOnly(new URL(c.req.url).searchParams, parametersOf(route));
    if (need === "write") context.mustHaveRoom(c.env);
    await next();
  });
}

/** The parameters that a route's query may have. */
function parametersOf({ request }: NeedyRoute): readonly string[] {
  return request?.query instanceof z.ZodObject ? Object.keys(request.query.shape) : [];
}

/** The routes, by their method and their path, as the router writes it. */
function routesOf({ openAPIRegistry }: OpenAPIHono): ReadonlyMap<string, NeedyRoute> {
  return new Map(
    openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== "route") return [];
      const route = definition.route as NeedyRoute;
      return [[`${route.method.toUpperCase()} ${route.path.replaceAll(/\{(\w+)\}/g, ":$1")}`, route]];
    }),
  );
}
