import type { z } from "@hono/zod-openapi";
import type { problemEntrySchema, problemListSchema } from "../contract/group-schemas.js";

/** Something that is wrong, with what to do about it. */
export type ProblemEntry = z.output<typeof problemEntrySchema>;
export type ProblemList = z.output<typeof problemListSchema>;
