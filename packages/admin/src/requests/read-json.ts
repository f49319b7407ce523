import type { z } from "@hono/zod-openapi";
import { type Finding, readDocument } from "@xdskit/api";
import { ApiProblem } from "../contract/problem.js";
import type { BodyForm } from "./body-form.js";

/** Bytes of such a body: it is read in one turn. */
const maxSmall = 64 * 1024;

/** Reads a small body by a schema; an empty one is an empty mapping. Throws a problem with the places of all errors. */
export function readJson<S extends z.ZodType>(bytes: Uint8Array, form: BodyForm, schema: S): z.output<S> {
  if (bytes.length > maxSmall)
    throw ApiProblem.of(413, "XDSKIT_API_REQUEST", `the body has more than ${maxSmall} bytes`);
  if (form === "protobuf") throw ApiProblem.of(415, "XDSKIT_API_REQUEST", "this body must be JSON or YAML");
  const isEmpty = bytes.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  const document = readDocument(isEmpty ? Buffer.from("{}") : bytes, "body", form);
  const parsed = schema.safeParse(document.value);
  if (parsed.success) return parsed.data;
  const [first, ...rest] = parsed.error.issues.flatMap(({ path, message, ...issue }): readonly Finding[] => {
    const steps = issue.code === "unrecognized_keys" ? [...path, issue.keys[0] ?? ""] : path;
    return document.error("XDSKIT_API_REQUEST", message, steps as (string | number)[]).findings;
  });
  if (first === undefined) throw ApiProblem.of(400, "XDSKIT_API_REQUEST", "the body is wrong");
  throw new ApiProblem(400, [first, ...rest]);
}
