import { type DescMessage, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry, envoySchema, typeUrlPrefix } from "@xdskit/api";
import { delimited, fieldBytes, WireReader } from "@xdskit/api/wire";

/*
 * Messages around resources, in bytes: what is in a resource goes to Envoy as it is, known or not.
 */

/** A message of Envoy's from its JSON form. */
export function encoded(type: string, json: JsonObject): Uint8Array {
  const schema = envoySchema<DescMessage>(type);
  return toBinary(schema, fromJson(schema, json, { registry: envoyRegistry() }));
}

/** One field of a message, with a text or with the parts of a message in it. */
export function field(type: string, name: string, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return fieldBytes(numberOf(type, name), Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))));
}

/** An `Any` with a message of the type, by its parts. */
export function any(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([
    field("google.protobuf.Any", "type_url", `${typeUrlPrefix}${type}`),
    field("google.protobuf.Any", "value", ...parts),
  ]);
}

/** The content of a field with a text or a message, the last if there are several; undefined if it is not set. */
export function contentOf(body: Uint8Array, type: string, name: string): Uint8Array | undefined {
  const wanted = delimited(numberOf(type, name));
  const reader = new WireReader(body);
  let found: Uint8Array | undefined;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === wanted) found = reader.part();
    else reader.skip(tag);
  }
  return found;
}

function numberOf(type: string, name: string): number {
  const found = envoySchema<DescMessage>(type).fields.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${type} has no field ${name}`);
  return found.number;
}
