import { z } from "@hono/zod-openapi";

/** A field of a message. */
export const fieldSchema = z
  .object({
    name: z.string().openapi({ example: "connect_timeout" }),
    message: z.string().openapi({ example: "envoy.config.cluster.v3.Cluster" }),
    type: z.string().openapi({ example: "google.protobuf.Duration" }),
    oneof: z.string().nullable().openapi({ description: "Of the fields of one oneof, one is set" }),
    rules: z
      .array(z.string())
      .openapi({ description: "What the protos ask of its value, in words", example: ["required", "> 0s"] }),
    comment: z.string().nullable().openapi({
      description: "What the protos say of it: plain text, with an empty line between paragraphs; null: nothing",
    }),
    values: z.array(z.string()).openapi({ description: "Of an enum, at most 40" }),
    deprecated: z.boolean(),
    since: z.string().nullable().openapi({ description: "The first Envoy that has it; null: older than we know" }),
    docs: z.string().nullable().openapi({ description: "Where Envoy's documentation has it" }),
  })
  .openapi("Field");
