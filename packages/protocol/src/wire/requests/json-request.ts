import { canonicalName, type Nonce, type ResourceName, snakeCase, type TypeUrl, type Version } from "@xdskit/api";
import { MalformedMessage } from "@xdskit/api/wire";
import { longestText } from "../../model/basics/limits.js";
import type { Node } from "../../model/basics/node.js";
import { locatorOf } from "../../model/names/locator.js";
import { checkShort } from "./node-message.js";
import { type ErrorDetail, shortened } from "./requests.js";

/** A `DiscoveryRequest` as REST clients send it. */
export interface JsonRequest {
  /** Undefined if the request has none. */
  readonly node: Node | undefined;
  readonly version: Version;
  /** In canonical form, repeated ones too; those of locators with their parameters. */
  readonly names: readonly ResourceName[];
  readonly typeUrl: TypeUrl;
  /** Optional over REST (rule 146). */
  readonly nonce: Nonce;
  readonly error: ErrorDetail | undefined;
}

/** The request, or why it is none. */
export type ReadJsonRequest =
  | { readonly kind: "request"; readonly request: JsonRequest }
  | { readonly kind: "malformed"; readonly message: string };

/**
 * Reads a `DiscoveryRequest` from parsed JSON: proto3's JSON mapping, fields in camelCase or snake_case (rule 141).
 * Reads only the fields that a server decides by: a small part of Envoy's node of 60 kB. Skips unknown fields: newer
 * clients have more of them.
 */
export function readJsonRequest(json: unknown): ReadJsonRequest {
  try {
    const top = objectAt(json, "");
    if (top === undefined) throw new MalformedMessage("expected an object, found null");
    const node = objectAt(field(top, "node"), "node");
    const request = {
      node: node === undefined ? undefined : nodeIn(node),
      version: textIn(top, "versionInfo"),
      names: [...texts(top, "resourceNames").map(canonicalName), ...locatedNames(top)],
      typeUrl: textIn(top, "typeUrl"),
      nonce: textIn(top, "responseNonce"),
      error: readError(objectAt(field(top, "errorDetail"), "error_detail")),
    };
    return { kind: "request", request };
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return { kind: "malformed", message: error.message };
  }
}

type RequestFields = { readonly [key: string]: unknown };

function nodeIn(node: RequestFields): Node {
  const locality = objectAt(field(node, "locality"), "node.locality") ?? {};
  return {
    id: shortText(node, "id", "node."),
    cluster: shortText(node, "cluster", "node."),
    locality: {
      region: shortText(locality, "region", "node.locality."),
      zone: shortText(locality, "zone", "node.locality."),
      subZone: shortText(locality, "subZone", "node.locality."),
    },
    metadata: objectAt(field(node, "metadata"), "node.metadata") ?? {},
    userAgentName: shortText(node, "userAgentName", "node."),
    userAgentVersion: shortText(node, "userAgentVersion", "node.") || buildVersion(node),
    clientFeatures: texts(node, "clientFeatures", "node.").map((feature, index) =>
      short(feature, `node.client_features[${index}]`),
    ),
  };
}

/** `BuildVersion.version` as `1.40.0`. */
function buildVersion(node: RequestFields): string {
  const build = objectAt(field(node, "userAgentBuildVersion"), "node.user_agent_build_version");
  const version = objectAt(build && field(build, "version"), "node.user_agent_build_version.version");
  if (version === undefined) return "";
  return ["majorNumber", "minorNumber", "patch"].map((part) => Number(field(version, part) ?? 0) || 0).join(".");
}

/** `resource_locators` of the newest protos name resources too, with parameters. */
function locatedNames(top: RequestFields): readonly ResourceName[] {
  return listAt(field(top, "resourceLocators"), "resource_locators").map((item, index) => {
    const path = `resource_locators[${index}]`;
    const locator = objectAt(item, path) ?? {};
    const given = objectAt(field(locator, "dynamicParameters"), `${path}.dynamic_parameters`) ?? {};
    const params = objectAt(field(given, "params"), `${path}.dynamic_parameters.params`) ?? {};
    const parameters = new Map(
      Object.entries(params).map(([key, value]) => {
        const at = `${path}.dynamic_parameters.params`;
        return [textAt(key, at), textAt(value, at)];
      }),
    );
    // As over gRPC.
    if (parameters.size > 64) throw new MalformedMessage(`${path} has more than 64 dynamic parameters`);
    const name = textIn(locator, "name", `${path}.`);
    return name === "*" ? name : locatorOf(name, parameters);
  });
}

function readError(status: RequestFields | undefined): ErrorDetail | undefined {
  if (status === undefined) return undefined;
  return {
    code: Number(field(status, "code") ?? 0) | 0,
    message: shortened(textIn(status, "message", "error_detail.")),
  };
}

function field(object: RequestFields, jsonName: string): unknown {
  const value = own(object, jsonName) ?? own(object, snakeCase(jsonName));
  // JSON's null is the field's default.
  return value === null ? undefined : value;
}

function own(object: RequestFields, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function objectAt(value: unknown, path: string): RequestFields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !Array.isArray(value)) return value as RequestFields;
  throw new MalformedMessage(expected(path, "an object", value));
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new MalformedMessage(expected(path, "a list", value));
}

function textIn(object: RequestFields, jsonName: string, prefix = ""): string {
  return textAt(field(object, jsonName) ?? "", `${prefix}${snakeCase(jsonName)}`);
}

/** As over gRPC: text of a node that goes to logs and pages. */
function shortText(object: RequestFields, jsonName: string, prefix: string): string {
  return short(textIn(object, jsonName, prefix), `${prefix}${snakeCase(jsonName)}`);
}

function short(value: string, path: string): string {
  // A character is three bytes at most, half of a pair two.
  if (3 * value.length > longestText) checkShort(utf8.encode(value).length, path);
  return value;
}

const utf8 = new TextEncoder();

function textAt(value: unknown, path: string): string {
  if (typeof value !== "string") throw new MalformedMessage(expected(path, "a string", value));
  // JSON's escapes can express half a character, protobuf's strings cannot; locators rely on that.
  if (/\p{Surrogate}/u.test(value)) throw new MalformedMessage(`${path}: half a surrogate pair is no character`);
  return value;
}

function texts(object: RequestFields, jsonName: string, prefix = ""): readonly string[] {
  const path = `${prefix}${snakeCase(jsonName)}`;
  return listAt(field(object, jsonName), path).map((value, index) => textAt(value, `${path}[${index}]`));
}

/** Without the value: a client may have put a secret in the wrong place. */
function expected(path: string, what: string, found: unknown): string {
  const kind = found === null ? "null" : Array.isArray(found) ? "a list" : `${articles[typeof found] ?? "a value"}`;
  return `${path === "" ? "" : `${path}: `}expected ${what}, found ${kind}`;
}

const articles: Readonly<Record<string, string>> = {
  object: "an object",
  string: "a string",
  number: "a number",
  boolean: "true or false",
};
