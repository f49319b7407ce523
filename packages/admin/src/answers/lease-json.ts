import type { z } from "@hono/zod-openapi";
import type { Lease } from "@xdskit/server";
import type { leaseSchema } from "../contract/schemas.js";

/** A lease as JSON. `layer` is the name of its layer in the API; `leftMs`: milliseconds until it ends. */
export function leaseJson(
  { id, ttlMs, resources }: Lease,
  layer: string,
  leftMs: number,
): z.output<typeof leaseSchema> {
  const expires = new Date(Date.now() + leftMs).toISOString();
  const named = resources.map(({ type, key }) => ({ type, name: key }));
  return { id, layer, ttl: `${ttlMs / 1_000}s`, expires, resources: named };
}
