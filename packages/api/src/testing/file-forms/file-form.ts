import type { JsonObject } from "@bufbuild/protobuf";

/** One way to write a message in a file, Envoy's reading of it, and ours. */
export interface FileForm {
  /** The leniency, as the documentation calls it; undefined for a refused form. */
  readonly line: string | undefined;
  readonly form: "yaml" | "json";
  /** Name of the message's type. */
  readonly type: string;
  /** The message's fields: lines of YAML, or the inside of an object of JSON. */
  readonly text: string;
  /** In canonical form; undefined if it is refused. */
  readonly envoy: JsonObject | undefined;
  readonly ours: JsonObject | undefined;
}

type Forms = Readonly<Record<string, JsonObject>>;

/** Forms that both take. */
export function taken(line: string, type: string, form: "yaml" | "json", forms: Forms): FileForm[] {
  return Object.entries(forms).map(([text, means]) => ({ line, form, type, text, envoy: means, ours: means }));
}

/** Forms that both refuse. */
export function refused(type: string, form: "yaml" | "json", texts: readonly string[]): FileForm[] {
  return texts.map((text) => ({ line: undefined, form, type, text, envoy: undefined, ours: undefined }));
}

/** Forms that only Envoy takes, or that it reads as something else; the line says why. */
export function otherwise(
  line: string,
  type: string,
  form: "yaml" | "json",
  forms: Readonly<Record<string, { readonly envoy?: JsonObject; readonly ours?: JsonObject }>>,
): FileForm[] {
  return Object.entries(forms).map(([text, { envoy, ours }]) => ({ line, form, type, text, envoy, ours }));
}

/** The same value in different spellings, each as the value of one field. */
export function each(field: string, values: readonly string[], means: JsonObject): Forms {
  return Object.fromEntries(values.map((value) => [`${field}: ${value}`, means]));
}
