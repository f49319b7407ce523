import { z } from "@hono/zod-openapi";

/** The servers of a store that did not answer, and why. */
export const silentServersSchema = z.array(z.object({ replica: z.string(), reason: z.string() }));
