import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type ApiVersion, envoyRegistry, type ResourceType } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type {
  ClientStreamEffect,
  OutgoingRequest,
  ReceivedResource,
  ResourceUpdate,
  SotwOrDelta,
} from "../../index.js";
import { statusCode } from "../../wire/basics/status-code.js";
import { readSample, wordOf } from "../sample-resources.js";

/** The type in a transcript's word. */
export function wordOfType({ typeUrl }: ResourceType): string {
  return wordOf(typeUrl)?.word ?? typeUrl;
}

/** The content of a v3 message, in the words of transcripts. */
export function contentOf(type: ResourceType, message: Message): string {
  const schema = envoyRegistry().getMessage(message.$typeName);
  if (schema === undefined) throw new Error(`a message of v3 was expected, not ${message.$typeName}`);
  return readSample(type.typeUrl, toBinary(schema, message)).content;
}

/** A request in words, and whether it has a node. */
export interface SeenRequest {
  readonly line: string;
  readonly hasNode: boolean;
}

/** Decodes a request as a server would, and checks that it agrees with the machine's description of it. */
export function describeRequest(outgoing: OutgoingRequest, variant: SotwOrDelta, api: ApiVersion): SeenRequest {
  const { type, bytes, kind } = outgoing;
  const request = fromBinary(variant === "sotw" ? DiscoveryRequestSchema : DeltaDiscoveryRequestSchema, bytes);
  if ((request.$unknown?.length ?? 0) > 0) throw new Error("the request has fields that no server knows");
  const known = wordOf(request.typeUrl);
  if (known !== undefined && known.word !== wordOfType(type))
    throw new Error(`a request of ${known.word} for ${wordOfType(type)}`);
  const { errorDetail } = request;
  if ((errorDetail !== undefined) !== (kind === "nack")) throw new Error("only a NACK has an error_detail (rule 26)");
  if (errorDetail !== undefined && (errorDetail.code !== statusCode.invalidArgument || errorDetail.message === ""))
    throw new Error("an error_detail that helps nobody");
  const parts: string[] = [];
  if (request.$typeName === "envoy.service.discovery.v3.DiscoveryRequest") {
    const names = [...request.resourceNames, ...request.resourceLocators.map(({ name }) => `${name}{}`)];
    if (new Set(names).size < names.length) throw new Error("a name twice");
    parts.push(
      ...(names.length === 0 ? ["[]"] : names),
      ...(request.versionInfo === "" ? [] : [`v=${request.versionInfo}`]),
    );
  } else {
    parts.push(...request.resourceNamesSubscribe.map((name) => `+${name}`));
    parts.push(...request.resourceNamesUnsubscribe.map((name) => `-${name}`));
    const claims = Object.entries(request.initialResourceVersions).map(([name, version]) => `${name}=${version}`);
    if (claims.length > 0) parts.push("has", ...claims.sort());
  }
  if (request.responseNonce !== "") parts.push(`n=${request.responseNonce}`);
  if (kind !== "subscribe") parts.push(kind);
  const prefix = known === undefined || known.api === api ? "" : `${known.api}:`;
  const line = `> ${prefix}${wordOfType(type)} ${parts.join(" ")}`.trimEnd();
  return { line, hasNode: request.node !== undefined };
}

/** An effect in words; undefined for one that is not shown. */
export function describeEffect(
  effect: ClientStreamEffect,
  shown: { readonly received: boolean; readonly versions: boolean },
): string | undefined {
  switch (effect.kind) {
    case "received": {
      const waits = effect.awaitsAnswer ? " waits" : "";
      return shown.received || effect.awaitsAnswer
        ? `! received ${wordOfType(effect.type)} #${effect.response}${waits}`
        : undefined;
    }
    case "rejected":
      return `! rejected ${wordOfType(effect.type)} ${effect.message.replaceAll("\n", "\\n")}`;
    case "close": {
      const [name] = Object.entries(statusCode).find(([, code]) => code === effect.code) ?? ["?"];
      return `! close ${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
    }
    case "update":
      return `! ${wordOfType(effect.update.type)} ${describeUpdate(effect.update, shown.versions)}`;
  }
}

function describeUpdate({ upserted, removed, absent, failing }: ResourceUpdate, versions: boolean): string {
  const names = [...upserted, ...removed, ...absent].map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error(`a name twice in an update: ${names.join(" ")}`);
  if (names.length + failing.length === 0) throw new Error("an update that says nothing");
  return [
    ...upserted.map((resource) => describeResource(resource, versions)).sort(),
    ...removed.map(({ name, reason }) => `-${name}${reason === "removed" ? "" : `(${reason})`}`).sort(),
    ...absent
      .map(({ name, reason, error }) => `${name}?${reason}${error === undefined ? "" : `!${error.code}`}`)
      .sort(),
    ...failing.map(({ name, code }) => `${name}!${code}`).sort(),
  ].join(" ");
}

/** A resource as a response would have it. */
export function describeResource(resource: ReceivedResource, versions: boolean): string {
  const { type, name, aliases, ttl, message, version } = resource;
  const there = [`${name}=${contentOf(type, message)}`, ...aliases].join("@");
  return `${there}${ttl === undefined ? "" : `~${ttl / 1000}s`}${versions ? `#${version}` : ""}`;
}
