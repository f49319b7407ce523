import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Finding } from "@xdskit/api";
import type { MiddlewareHandler } from "hono";
import type { ApiContext } from "../context/api-context.js";
import { mustHaveOnly, noSuchValue } from "../contract/known-values.js";
import { maxInList } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import type { NeedyRoute } from "./definition.js";

/**
 * An app without routes, which lets a request through to those that it gets only if the caller may do what its route
 * needs, and if the route has all its parameters. `around` hears of every request.
 */
export function guardedApp(context: ApiContext, around: MiddlewareHandler): OpenAPIHono {
  const app = new OpenAPIHono({
    defaultHook: (result, c) => {
      if (!result.success) throw requestProblem(result.target, result.error.issues, c.req.query());
    },
  });
  let known: ReadonlyMap<string, NeedyRoute> | undefined;
  app.use(around, async (c, next) => {
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
  return app;
}

function requestProblem(
  target: string,
  issues: readonly z.core.$ZodIssue[],
  query: Readonly<Record<string, string>>,
): ApiProblem {
  const [first, ...rest] = issues.map((issue): Finding => {
    const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
    const where = target === "json" ? { file: "body" } : {};
    const field = path.map(String).join(".");
    const value = target === "query" ? query[field] : undefined;
    const said = target === "json" ? issue.message : `${target}: ${issue.message}`;
    const isOfSome = issue.code === "invalid_value" && value !== undefined;
    const message = isOfSome ? noSuchValue(field, value, issue.values.map(String)) : said;
    return { code: "XDSKIT_API_REQUEST", severity: "error", message, field, ...where };
  });
  if (first === undefined) return ApiProblem.of(400, "XDSKIT_API_REQUEST", `the ${target} is wrong`);
  const known = issues.find((issue) => issue.code === "invalid_value")?.values.slice(0, maxInList);
  return new ApiProblem(400, [first, ...rest], known === undefined ? {} : { known });
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
