import { create, toBinary } from "@bufbuild/protobuf";
import { type ApiVersion, encodedAs } from "@xdskit/api";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
  type Resource,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { fieldBytes, textBytes } from "@xdskit/api/wire";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { millisecondsOf, sampleResource, typeWords, urlOf } from "../sample-resources.js";
import { splitContent } from "../transcripts/transcript-request.js";

/** The context of a line such as `< cluster a=1 -b v=2`. */
export interface ResponseContext {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  /** The type of a per-type stream. */
  readonly only: string | undefined;
  /** The number of a type's responses so far, this one included. */
  readonly count: (type: string) => number;
}

type Any = { readonly typeUrl: string; readonly value: Uint8Array };

const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** Makes the bytes of a response out of its words (they are listed in transcripts/client/README.md). */
export function responseBytes(text: string, context: ResponseContext): Uint8Array {
  const [subject = "", ...tokens] = text.split(/\s+/);
  if (subject === "bytes") return Uint8Array.from(Buffer.from(tokens.join(""), "hex"));
  const [, prefix, bare = ""] = /^(?:(v2|v3):)?(.*)$/.exec(subject) ?? [];
  const api = prefix === "v2" || prefix === "v3" ? prefix : context.api;
  const word = bare === "notype" ? (context.only ?? "") : bare;
  const isUrl = word.includes("/");
  const typeUrl = bare === "notype" ? "" : isUrl ? word : urlOf(word, api);
  const count = context.count(word);
  let version = `${count}`;
  let nonce = `n${count}`;
  const resources: Resource[] = [];
  const removed: string[] = [];
  const removedNames: { readonly name: string }[] = [];
  const errors: Uint8Array[] = [];
  for (const token of tokens) {
    const [, key, value = ""] = /^([vn])=(.*)$/.exec(token) ?? [];
    const [, failing, code] = /^([^=]*)!(\d+)$/.exec(token) ?? [];
    if (token === "[]") continue;
    if (key === "v") version = value;
    else if (key === "n") nonce = value;
    else if (failing !== undefined) errors.push(errorBytes(failing, Number(code)));
    else if (/^-.*\{\}$/.test(token)) removedNames.push({ name: token.slice(1, -2) });
    else if (token.startsWith("-")) removed.push(token.slice(1));
    else resources.push(resourceOf(token, word, api));
  }
  if (context.variant === "sotw") {
    const init = { typeUrl, versionInfo: version, nonce, resources: resources.map((one) => sotwAny(one)) };
    return withFields(toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, init)), 7, errors);
  }
  const init = { typeUrl, systemVersionInfo: version, nonce, resources };
  const message = create(DeltaDiscoveryResponseSchema, {
    ...init,
    removedResources: removed,
    removedResourceNames: removedNames,
  });
  return withFields(toBinary(DeltaDiscoveryResponseSchema, message), 9, errors);
}

/** SotW wraps facts that a plain resource cannot hold (rule 128), and lists, which have no name of their own. */
function sotwAny(resource: Resource): Any {
  const { resource: any, ttl, aliases, resourceName } = resource;
  const isPlain = ttl === undefined && aliases.length === 0 && resourceName === undefined;
  const isBare = any !== undefined && isPlain && !any.typeUrl.endsWith("Collection");
  return isBare ? any : { typeUrl: wrapperUrl, value: toBinary(ResourceSchema, { ...resource, version: "" }) };
}

function resourceOf(token: string, type: string, api: ApiVersion): Resource {
  const [, foreign, rest = ""] = /^([a-z-]+):(.*)$/.exec(token) ?? [];
  const isForeign = foreign !== undefined && typeWords.includes(foreign);
  const [, words = token, ttl] = /^(.*?)(?:~([\d.]+s))?$/.exec(isForeign ? rest : token) ?? [];
  const [before = words, ...aliases] = words.split("@");
  const [named, said] = before.includes("=") ? splitContent(before) : [before, undefined];
  const [, name = named] = /^(.*)\{\}$/.exec(named) ?? [];
  const [content, version] = (said ?? "").split("#");
  const milliseconds = ttl === undefined ? undefined : millisecondsOf(ttl);
  return create(ResourceSchema, {
    ...(name === named ? { name } : { resourceName: { name } }),
    version: said === "∅" ? "" : (version ?? content ?? ""),
    aliases,
    ...(milliseconds === undefined ? {} : { ttl: durationOf(milliseconds) }),
    ...(said === undefined || said === "∅"
      ? {}
      : { resource: anyOf(isForeign ? foreign : type, name, content ?? "", api) }),
  });
}

function anyOf(type: string, name: string, content: string, api: ApiVersion): Any {
  // Not even the message can be read.
  if (content === "garbage") return { typeUrl: urlOf(type, api), value: Uint8Array.of(0x0a, 0xff) };
  const { typeUrl, value } = encodedAs(sampleResource(type, name === "nameless" ? "x" : name, content), api);
  // The first field is the name.
  return name === "nameless" ? { typeUrl, value: value.subarray(3) } : { typeUrl, value };
}

function durationOf(milliseconds: number) {
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1e6 };
}

/** A `ResourceError`, which the generated messages do not know yet. */
function errorBytes(name: string, code: number): Uint8Array {
  const status = Buffer.concat([Uint8Array.of(8, code), textBytes(2, "the server said so")]);
  return Buffer.concat([fieldBytes(1, textBytes(1, name)), fieldBytes(2, status)]);
}

function withFields(bytes: Uint8Array, number: number, fields: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat([bytes, ...fields.map((field) => fieldBytes(number, field))]));
}
