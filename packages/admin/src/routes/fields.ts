import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type ApiContext, quoted } from "../context/api-context.js";
import { fieldSchema } from "../contract/field-schemas.js";
import { ApiProblem } from "../contract/problem.js";
import { describeField } from "../fields/describe-field.js";
import { json, problems, readRoute } from "./definition.js";

const field = readRoute({
  path: "/api/v1/fields/{message}/{path}",
  summary: "Says what a field of a message is",
  request: {
    params: z.object({
      message: z.string().openapi({ description: "A type URL (encoded), or the name of a message" }),
      path: z
        .string()
        .openapi({ description: "Names of fields with points", example: "common_lb_config.zone_aware_lb_config" }),
    }),
  },
  responses: { 200: json(fieldSchema, "The field"), ...problems(404) },
});

/** The route that describes fields. */
export function fieldRoute(app: OpenAPIHono, { options }: ApiContext): void {
  app.openapi(field, (c) => {
    const { message, path } = c.req.valid("param");
    const name = message.slice(message.lastIndexOf("/") + 1);
    const found = describeField(options.registry, name, path.split("."));
    if (found !== undefined) return c.json(found, 200);
    throw ApiProblem.of(404, "XDSKIT_RESOURCE_ABSENT", `${quoted(name)} has no field ${quoted(path)}`);
  });
}
