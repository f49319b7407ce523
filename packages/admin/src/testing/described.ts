import assert from "node:assert/strict";
import { z } from "zod";

/** The parts of an OpenAPI document that say what comes back. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

/** An answer, and what was asked. */
export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Fails unless an answer is as the document says. A path or method that it does not have is not looked at. */
export function assertDescribed(document: Document, { method, path, status, contentType, text }: Asked): void {
  const [plain = ""] = path.split("?");
  const operation = operationAt(document, method, plain);
  if (operation === undefined) return;
  const [media = ""] = contentType.split(";");
  const { schema } = operation.responses[status]?.content?.[media] ?? {};
  assert.ok(schema, `${method} ${plain} answers ${status} with ${media}, which is not described`);
  if (!media.includes("json")) return;
  const { success, error } = z.fromJSONSchema(standalone(schema, document) as never).safeParse(JSON.parse(text));
  assert.ok(success, `${method} ${plain} ${status}: ${error?.message}\n${text}`);
}

/** The operation of the most exact path. */
function operationAt({ paths }: Document, method: string, path: string): Operation | undefined {
  const exact = paths[path]?.[method.toLowerCase()];
  if (exact !== undefined) return exact;
  const found = Object.keys(paths).find((one) => {
    const pattern = one.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${pattern}$`).test(path);
  });
  return found === undefined ? undefined : paths[found]?.[method.toLowerCase()];
}

function standalone(schema: object, { components }: Document): object {
  const all = JSON.stringify({ ...schema, $defs: components.schemas });
  return JSON.parse(all.replaceAll("#/components/schemas/", "#/$defs/"));
}
