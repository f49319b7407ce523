import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry, resourceTypes } from "@xdskit/api";
import { drivenContent, grpcListener } from "../driver/driven-content.js";
import type { Request } from "../wire/messages.js";
import { typeUrlOf } from "../wire/type-words.js";
import type { SentResource } from "./client-stream.js";

/** What a client is given that asks for everything. */
const everything = ["a"];

/** The names that a request adds. */
export function namesAsked({ names, subscribe }: Request): readonly string[] {
  return names ?? subscribe ?? [];
}

/** What a request asks for. A type that we know nothing of has no resources. */
export function contentFor(request: Request): readonly SentResource[] {
  const named = namesAsked(request).filter((name) => name !== "*");
  const names = named.length === 0 ? everything : named;
  const of = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const world = { clusters: of(1), listeners: of("r"), routes: of("a") };
  const schema = resourceTypes.byTypeUrl(request.type)?.type.schema;
  const content = drivenContent(world)[request.type];
  if (schema === undefined || content === undefined) return [];
  // A listener that is asked for by name is for a client without ports, such as gRPC's.
  const isGrpc = request.type === typeUrlOf("listener") && named.length > 0;
  return names.map((name) => {
    const json = (isGrpc ? grpcListener(name, "r") : content[name]) as JsonValue;
    return { name, body: toBinary(schema, fromJson(schema, json, { registry: envoyRegistry() })) };
  });
}
