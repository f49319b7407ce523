import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { auditActionFault } from "../access/audit-lines.js";
import type { ApiContext } from "../context/api-context.js";
import { auditActions } from "../contract/audit.js";
import { unknownValue } from "../contract/known-values.js";
import { auditSchema } from "../contract/page-schemas.js";
import { createRoute, json, limit, problems } from "./definition.js";

const glob = z.string().min(1).max(256).optional();

const audit = createRoute({
  method: "get",
  "x-needs": "operate",
  path: "/api/v1/audit",
  summary: "Says who changed what, and who was refused",
  description:
    "The newest entries of this server's audit, of the last 4 MiB of its file. `xdskit audit` reads all of it.",
  request: {
    query: z.object({
      who: glob.openapi({ description: "Only of these, with `*` and `?`" }),
      action: glob.openapi({ description: "Only such as `change` or `rollout*`" }),
      result: z.enum(["done", "refused", "failed"]).optional(),
      limit: limit(100, 1_000),
    }),
  },
  responses: { 200: json(auditSchema, "The entries, the newest first"), ...problems(400) },
});

/** The route of the audit. */
export function auditRoute(app: OpenAPIHono, context: ApiContext): void {
  app.openapi(audit, async (c) => {
    const { limit: most, ...query } = c.req.valid("query");
    const fault = query.action === undefined ? undefined : auditActionFault(query.action);
    if (fault !== undefined) throw unknownValue("action", fault, auditActions);
    const found = await context.options.audit?.newest(query, most);
    const { entries = [], isWhole = true } = found ?? {};
    const page = { isKept: found !== undefined, isWhole, entries: [...entries] };
    return c.json(page satisfies z.output<typeof auditSchema>, 200);
  });
}
