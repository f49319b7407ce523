import { ApiProblem } from "../contract/problem.js";

/** The form of a body. */
export type BodyForm = "json" | "yaml" | "protobuf";

const forms: Readonly<Record<string, BodyForm>> = {
  "": "json",
  "application/json": "json",
  "application/yaml": "yaml",
  "application/x-yaml": "yaml",
  "text/yaml": "yaml",
  "text/x-yaml": "yaml",
  "application/protobuf": "protobuf",
  "application/x-protobuf": "protobuf",
};

/** The content types that are read, for the OpenAPI document. */
export const bodyTypes = ["application/json", "application/yaml", "application/x-protobuf"] as const;

/** The form of a request's body. Throws a problem for a type that is not read. */
export function bodyForm(contentType: string | null): BodyForm {
  const [type = ""] = (contentType ?? "").split(";");
  const form = forms[type.trim().toLowerCase()];
  if (form !== undefined) return form;
  throw ApiProblem.of(415, "XDSKIT_API_REQUEST", `the body is ${type.slice(0, 100)}; read are ${bodyTypes.join(", ")}`);
}
