import {
  type Finding,
  noSuchType,
  type PositionedResource,
  type Registry,
  type ResourceType,
  type ResourceTypes,
  readBinaryRequest,
  readResourceRequest,
  type Where,
} from "@xdskit/api";
import { mostResources, mostYamlBytes } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { changeFieldsSchema } from "../contract/schemas.js";
import type { BodyForm } from "./body-form.js";

/** The name of a body in findings. */
export const bodyName = "body";

/** A change as it was asked for, read and checked by itself. */
export interface ReadChange {
  readonly upsert: readonly PositionedResource[];
  readonly remove: readonly { readonly type: ResourceType; readonly name: string }[];
  readonly replace: boolean;
  readonly dryRun: boolean;
  readonly message: string;
  readonly author: string | undefined;
  /** Warnings. */
  readonly findings: readonly Finding[];
}

/** How bodies are read. */
export interface Reading {
  readonly registry: Registry;
  readonly types: ResourceTypes;
}

/** The fields of a change that a body cannot have, as a protobuf or one resource, and that the query gives. */
export interface ChangeQuery {
  readonly message?: string | undefined;
  readonly author?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly replace?: boolean | undefined;
}

/** Reads the body of a change. Throws a problem with everything that is wrong with it. */
export async function readChange(
  bytes: Uint8Array,
  form: BodyForm,
  query: ChangeQuery,
  reading: Reading,
): Promise<ReadChange> {
  refuseLarge(bytes, form);
  const { message = "", author, dryRun = false, replace = false } = query;
  const said = { message, author, dryRun, replace };
  if (form === "protobuf") {
    const { resources, findings } = await readBinaryRequest(bytes, { name: bodyName, ...reading });
    return checked({ ...said, upsert: resources, remove: [], findings });
  }
  const request = await readResourceRequest(bytes, { form, list: "upsert", name: bodyName, ...reading });
  refuse(request.findings);
  const fields = changeFieldsSchema.safeParse(request.fields);
  if (!fields.success) {
    refuse(
      fields.error.issues.map(({ path, message, ...issue }) => {
        // The path of an unknown field is that of the mapping around it.
        const steps = issue.code === "unrecognized_keys" ? [...path, issue.keys[0] ?? ""] : path;
        return request.finding("XDSKIT_API_REQUEST", message, steps as (string | number)[]);
      }),
    );
    throw new Error("a request with issues was not refused");
  }
  const { delete: selectors = [], ...own } = fields.data;
  const findings: Finding[] = [];
  const remove = selectors.flatMap(({ type: named, name }, index) => {
    const type = reading.types.find(named);
    if (type !== undefined) return [{ type, name }];
    const message = noSuchType(named, reading.types);
    findings.push(request.finding("XDSKIT_TYPE_NAME_UNKNOWN", message, ["delete", index, "type"]));
    return [];
  });
  refuse(findings);
  const { upsert: _, ...rest } = { upsert: undefined, ...said, ...own };
  return checked({ ...rest, upsert: request.resources, remove, findings: request.findings });
}

/** Reads the body that is one resource, which must have this type and name. */
export async function readOne(
  bytes: Uint8Array,
  form: BodyForm,
  expected: { readonly type: ResourceType; readonly name: string },
  reading: Reading,
): Promise<Pick<ReadChange, "upsert" | "findings">> {
  refuseLarge(bytes, form);
  const { resources, findings } =
    form === "protobuf"
      ? await readBinaryRequest(bytes, { name: bodyName, ...reading })
      : await readResourceRequest(bytes, { form, list: undefined, name: bodyName, ...reading });
  refuse(findings);
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

function refuseLarge(bytes: Uint8Array, form: BodyForm): void {
  if (form !== "yaml" || bytes.byteLength <= mostYamlBytes) return;
  const message = `a body in YAML may have ${mostYamlBytes} bytes: send JSON or protobuf`;
  throw ApiProblem.of(413, "XDSKIT_API_REQUEST", message);
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
  if (upsert.length + remove.length > mostResources)
    throw ApiProblem.of(413, "XDSKIT_API_REQUEST", `one change has at most ${mostResources} resources`);
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
