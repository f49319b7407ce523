import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { envoyRegistry } from "../registry/registry.js";
import { isSecretName } from "./secret-names.js";

/** The fields to hide in a message, besides following its paths. */
export interface Secrets {
  readonly kind: "any" | "struct" | "value" | "data" | "pair" | "text" | "plain";
  /** Fields that are secrets as a whole. */
  readonly whole: readonly DescField[];
  /** Fields with a URL, which may contain a password. */
  readonly urls: readonly DescField[];
  /** Maps of texts whose keys tell the meaning of the values. */
  readonly maps: readonly DescField[];
}

/** A file, a variable or inline content. */
export const dataSourceName = "envoy.config.core.v3.DataSource";
const anyName = "google.protobuf.Any";
const structName = "google.protobuf.Struct";
/** A part of a struct, which also stands alone. */
export const valueName = "google.protobuf.Value";
/** Configuration of Wasm and similar extensions. */
const texts = new Set(["google.protobuf.StringValue", "google.protobuf.BytesValue"]);
/** A key or a name that tells the meaning of its value. */
const pairs = new Set([
  ...["HeaderValue", "QueryParameter", "KeyValue", "KeyValuePair"].map((name) => `envoy.config.core.v3.${name}`),
  // The required value of a header, a parameter or a cookie.
  ...["HeaderMatcher", "QueryParameterMatcher", "CookieMatcher"].map((name) => `envoy.config.route.v3.${name}`),
]);
/** The names of cookies with tokens are not secrets. */
const harmless = new Set(["envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames"]);

export function secretsOf(schema: DescMessage): Secrets {
  const { typeName } = schema;
  const whole = harmless.has(typeName) ? [] : schema.fields.filter(isSecret);
  return {
    kind: secretKindOf(typeName),
    whole,
    maps: schema.fields.filter((field) => field.fieldKind === "map" && isText(field) && !whole.includes(field)),
    urls: schema.fields.filter((field) => isText(field) && /(^|_)ur[il]$/.test(field.name) && !whole.includes(field)),
  };
}

function secretKindOf(typeName: string): Secrets["kind"] {
  if (typeName === anyName) return "any";
  if (typeName === structName) return "struct";
  if (typeName === valueName) return "value";
  if (typeName === dataSourceName) return "data";
  if (texts.has(typeName)) return "text";
  return pairs.has(typeName) ? "pair" : "plain";
}

/** Whether there is anything to hide. */
export function hasSecrets(schema: DescMessage): boolean {
  const { kind, whole, urls, maps } = secretsOf(schema);
  return kind !== "plain" || whole.length + urls.length + maps.length > 0;
}

/** Fields that the protos call sensitive, or whose names tell, since the protos do not always say it. */
function isSecret(field: DescField): boolean {
  const sensitive = envoyRegistry().getExtension("udpa.annotations.sensitive");
  if (sensitive !== undefined && hasOption(field, sensitive) && getOption(field, sensitive) === true) return true;
  const holdsText = isText(field) || field.message?.typeName === dataSourceName;
  return holdsText && isSecretName(field.name);
}

function isText({ scalar }: DescField): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
}
