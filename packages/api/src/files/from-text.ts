import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Finding, type Where, XdskitError } from "../errors/errors.js";
import { errorsIn } from "../errors/findings.js";
import { throwIfAny } from "../errors/throw-if-any.js";
import type { PositionedResource } from "../reading/file-reading.js";
import type { Resource } from "../resources/resource.js";
import { type ReadResourcesOptions, readInForm } from "./resource-file.js";

/** How to read a text. */
export interface TextOptions extends Omit<ReadResourcesOptions, "places"> {
  /** The name of the text in errors. Default: `text`. */
  readonly name?: string | undefined;
  /** Called with each possible problem. Default: only errors are told. */
  readonly warned?: ((warning: Finding) => void) | undefined;
}

/**
 * Makes resources of a text in YAML or JSON, or of a plain JSON value, as a resource file has them: one resource with
 * its `"@type"`, a list of them, or a `DiscoveryResponse`. `writeResources` is the way back. Throws an XdskitError with
 * all errors: of a text with line and column, of a value with the field alone.
 *
 * @example
 * ```ts
 * import { resourcesFrom } from "@xdskit/api";
 * import { createServer } from "@xdskit/server";
 *
 * const server = createServer();
 * server.config.set(
 *   resourcesFrom(`
 * "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
 * name: web
 * connect_timeout: 1s
 * `),
 * );
 * ```
 */
export function resourcesFrom(content: string | object, options: TextOptions = {}): readonly Resource[] {
  return readContent(content, options).map(({ resource }) => resource);
}

/**
 * The same, as messages of one type, to be changed by a program. `writeMessage` is the way back. Throws as
 * `resourcesFrom` does, and XDSKIT_TYPE_UNKNOWN for a resource of another type.
 *
 * @example
 * ```ts
 * import { messagesFrom } from "@xdskit/api";
 * import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
 *
 * const [web] = messagesFrom(ClusterSchema, {
 *   "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
 *   name: "web",
 *   connectTimeout: "1s",
 * });
 * console.log(web?.connectTimeout?.seconds);
 * ```
 */
export function messagesFrom<Desc extends DescMessage>(
  schema: Desc,
  content: string | object,
  options: TextOptions = {},
): readonly MessageShape<Desc>[] {
  return readContent(content, options).map(({ resource: { type, name, body }, where }) => {
    const found = type.typeUrl.slice(type.typeUrl.lastIndexOf("/") + 1);
    if (found === schema.typeName) return fromBinary(schema, body);
    const about: Where = { ...where, type: type.name, resource: name };
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", `this is ${found}, not ${schema.typeName}`, about);
  });
}

function readContent(
  content: unknown,
  { name = "text", warned, ...options }: TextOptions,
): readonly PositionedResource[] {
  const isText = typeof content === "string";
  const bytes = new TextEncoder().encode(isText ? content : jsonOf(content));
  const { resources, findings } = readInForm(name, bytes, isText ? "yaml" : "json", options);
  // Lines of a text that nobody wrote would only mislead.
  const found = isText ? findings : findings.map(({ line: _line, column: _column, ...finding }) => finding);
  throwIfAny(errorsIn(found));
  if (warned !== undefined) for (const finding of found) warned(finding);
  return resources;
}

function jsonOf(content: unknown): string {
  const wanted = "expected YAML or JSON as a text, or a plain JSON value";
  if (typeof content !== "object" || content === null) throw XdskitError.of("XDSKIT_SYNTAX", wanted);
  try {
    return JSON.stringify(content);
  } catch {
    // Without the cause, which may quote the value: a circle, or a BigInt.
    throw XdskitError.of("XDSKIT_SYNTAX", `${wanted}: this object cannot be written as JSON`);
  }
}
