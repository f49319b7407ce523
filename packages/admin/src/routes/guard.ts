import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiContext } from "../context/api-context.js";
import type { Need } from "../contract/access.js";
import type { NeedyRoute } from "./definition.js";

/** Lets a request through only if its caller may do what its route needs. Call it before the routes are there. */
export function guardRoutes(app: OpenAPIHono, context: ApiContext): void {
  let needs: ReadonlyMap<string, Need> | undefined;
  app.use(async (c, next) => {
    const method = c.req.method === "HEAD" ? "GET" : c.req.method;
    const routes = app.router.match(method, c.req.path)[0].map(([[, route]]) => route);
    needs ??= needsOf(app);
    const wanted = routes.filter(({ path }) => path !== "/*").map(({ path }) => needs?.get(`${method} ${path}`));
    // Whatever is not there needs somebody who is known.
    const need = wanted.length === 0 ? undefined : (wanted[0] ?? "nothing");
    context.mustMay(c.env, need);
    if (need === "write") context.mustHaveRoom(c.env);
    await next();
  });
}

/** What each route needs: by its method and its path, as the router writes it. */
function needsOf({ openAPIRegistry }: OpenAPIHono): ReadonlyMap<string, Need> {
  return new Map(
    openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== "route") return [];
      const { method, path, "x-needs": need } = definition.route as NeedyRoute;
      return [[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`, need]];
    }),
  );
}
