import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { json, readRoute } from "./definition.js";

const document = readRoute({
  path: "/api/v1/openapi.json",
  summary: "This document",
  responses: { 200: json(z.looseObject({ openapi: z.string() }), "An OpenAPI 3.1 document") },
});

/** The route that describes all routes that there are when it is first asked for. */
export function documentRoute(app: OpenAPIHono, version: string): void {
  let made: { openapi: string } | undefined;
  app.openapi(document, (c) => {
    made ??= openApiDocument(app, version);
    return c.json(made, 200);
  });
}

/** The OpenAPI 3.1 document of all routes. */
export function openApiDocument(app: OpenAPIHono, version: string): { openapi: string } {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "A token of the settings, if these have roles. `x-needs` of a route says what its role must allow",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "xdskit",
      version,
      description: "Layers, changes, history, nodes and rollouts of an xDS management server",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: "/" }],
    // Without roles nobody must show anything.
    security: [{ bearer: [] }, {}],
  }) as unknown as { openapi: string };
}
