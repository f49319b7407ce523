import type {
  Finding,
  NamedInRequest,
  PositionedResource,
  RequestKeys,
  ResourceRequest,
  ResourceType,
  Where,
} from "@xdskit/api";
import type { ReadingThread } from "@xdskit/api/threads";
import { maxResources, maxYamlBytes } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { changeFieldsSchema } from "../contract/schemas.js";
import type { BodyForm } from "./body-form.js";

/** The name of a body in findings. */
export const bodyName = "body";

/** A change as it was asked for, read and checked by itself. */
export interface ReadChange {
  readonly upsert: readonly PositionedResource[];
  readonly remove: readonly NamedInRequest[];
  readonly replace: boolean;
  readonly dryRun: boolean;
  readonly message: string;
  readonly author: string | undefined;
  /** Warnings. */
  readonly findings: readonly Finding[];
}

/** The fields of a change that a body cannot have, as a protobuf or one resource, and that the query gives. */
export interface ChangeQuery {
  readonly message?: string | undefined;
  readonly author?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly replace?: boolean | undefined;
}

/** The keys of a change. */
const changeKeys = { resources: "upsert", named: "delete", fields: Object.keys(changeFieldsSchema.shape) };

/** Reads the body of a change. Throws a problem with everything that is wrong with it. */
export async function readChange(
  bytes: Uint8Array,
  form: BodyForm,
  query: ChangeQuery,
  reading: ReadingThread,
): Promise<ReadChange> {
  const { message = "", author, dryRun = false, replace = false } = query;
  const request = await readBody(bytes, form, reading, changeKeys);
  const fields = changeFieldsSchema.safeParse(request.fields);
  if (!fields.success) {
    refuse(
      fields.error.issues.map(({ path: [key], message }) => {
        const where = request.places[String(key)];
        return { code: "XDSKIT_API_REQUEST", severity: "error", message, file: bodyName, ...where };
      }),
    );
    throw new Error("a request with issues was not refused");
  }
  const { resources: upsert, named: remove, findings } = request;
  return checked({ message, author, dryRun, replace, ...fields.data, upsert, remove, findings });
}

/** Reads the body that is one resource, which must have this type and name. */
export async function readOne(
  bytes: Uint8Array,
  form: BodyForm,
  expected: { readonly type: ResourceType; readonly name: string },
  reading: ReadingThread,
): Promise<Pick<ReadChange, "upsert" | "findings">> {
  const { resources, findings } = await readBody(bytes, form, reading);
  const [one] = resources;
  if (one === undefined || resources.length > 1)
    throw ApiProblem.of(400, "XDSKIT_API_REQUEST", `the body holds ${resources.length} resources, and not one`);
  const { type, name } = one.resource;
  if (type !== expected.type || name !== expected.name) {
    const message = `the body is ${type.name} ${JSON.stringify(name)}, the path says ${expected.type.name} ${JSON.stringify(expected.name)}`;
    throw new ApiProblem(422, [{ code: "XDSKIT_NAME_DIFFERS", severity: "error", message, ...one.where }]);
  }
  return { upsert: resources, findings };
}

async function readBody(
  bytes: Uint8Array,
  form: BodyForm,
  reading: ReadingThread,
  keys?: RequestKeys,
): Promise<ResourceRequest> {
  if (form === "yaml" && bytes.byteLength > maxYamlBytes) {
    const message = `a body in YAML may have ${maxYamlBytes} bytes: send JSON or protobuf`;
    throw ApiProblem.of(413, "XDSKIT_API_REQUEST", message);
  }
  const request = await reading.request(bytes, { form: form === "protobuf" ? "binary" : form, keys, name: bodyName });
  refuse(request.findings);
  return request;
}

/** Throws if there are errors. A change that cannot be understood has another status than one that breaks a rule. */
function refuse(findings: readonly Finding[]): void {
  const [first, ...rest] = findings.filter(({ severity }) => severity === "error");
  if (first === undefined) return;
  const isUnread = findings.some(({ code }) => code === "XDSKIT_API_REQUEST" || code === "XDSKIT_SYNTAX");
  throw new ApiProblem(isUnread ? 400 : 422, [first, ...rest]);
}

function checked(change: ReadChange): ReadChange {
  const { upsert, remove, findings } = change;
  refuse(findings);
  if (upsert.length + remove.length > maxResources)
    throw ApiProblem.of(413, "XDSKIT_API_REQUEST", `one change has at most ${maxResources} resources`);
  const known = new Map<string, Where>();
  const twice: Finding[] = [];
  for (const { resource, where } of upsert) {
    const id = `${resource.type.typeUrl} ${resource.key}`;
    const first = known.get(id);
    known.set(id, first ?? where);
    if (first === undefined || twice.length >= 100) continue;
    const line = first.line === undefined ? "" : `; it is first in line ${first.line}`;
    const message = `the change names it twice${line}`;
    twice.push({ code: "XDSKIT_DUPLICATE_RESOURCE", severity: "error", message, ...where });
  }
  refuse(twice);
  return change;
}
