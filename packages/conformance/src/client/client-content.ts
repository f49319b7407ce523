import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import { drivenContent, grpcListener } from "../driver/driven-content.js";
import type { SentRequest } from "../wire/messages.js";
import { typeNamed, typeUrlOf } from "../wire/type-words.js";
import type { NamedBody } from "./checked-stream.js";

/** What a client is given that asks for everything. */
const everything = ["a"];

/** The names that a request adds. */
export function namesAsked({ names, subscribe }: SentRequest): readonly string[] {
  return names ?? subscribe ?? [];
}

/** What a request asks for, with routes to this cluster. A type that we know nothing of has no resources. */
export function contentFor(request: SentRequest, cluster = "a"): readonly NamedBody[] {
  const named = namesAsked(request).filter((name) => name !== "*");
  const names = named.length === 0 ? everything : named;
  const of = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const world = { clusters: of(1), listeners: of("r"), routes: of(cluster) };
  const content = drivenContent(world)[request.type];
  if (content === undefined) return [];
  // A listener that is asked for by name is for a client without ports, such as gRPC's.
  const isGrpc = request.type === typeUrlOf("listener") && named.length > 0;
  return names.map((name) => {
    const json = isGrpc ? grpcListener(name, "r") : content[name]!;
    return { name, body: bodyOf(request.type, json) };
  });
}

/** Listeners with the names that a request asks for, and without routes: no client can use them. */
export function routelessListeners(request: SentRequest): readonly NamedBody[] {
  const listener = (name: string) => ({ name, body: bodyOf(request.type, grpcListener(name, undefined)) });
  return contentFor(request).map(({ name }) => listener(name));
}

function bodyOf(type: string, json: object): Uint8Array {
  const schema = typeNamed(type).schema!;
  return toBinary(schema, fromJson(schema, json as JsonValue, { registry: envoyRegistry() }));
}
