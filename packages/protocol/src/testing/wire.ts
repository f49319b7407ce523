import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type ResourceError,
  type Resource as ResourceMessage,
  type ResourceName,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { OutgoingResponse } from "../server/contract/response.js";
import type { SotwOrDelta } from "../wire/basics/sotw-or-delta.js";
import { type Content, readSample } from "./sample-resources.js";
import { describeConstraints, readParameters, splitBraces } from "./variant-words.js";

/** The parts of a node that transcripts set. */
export interface RequestNode {
  readonly id: string;
  readonly userAgentName?: string;
  readonly userAgentVersion?: string;
  readonly clientFeatures?: readonly string[];
  readonly locality?: { readonly zone: string };
}

/** A discovery request of either variant, as a client means it. */
export interface Request {
  readonly typeUrl: string;
  readonly node?: RequestNode | undefined;
  readonly nonce?: string | undefined;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
  /** SotW: resource_names and version_info. */
  readonly names?: readonly string[];
  readonly version?: string | undefined;
  /** Delta. */
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  readonly initialVersions?: { readonly [name: string]: string };
}

/** A request as the bytes on the wire; v2's messages have the same field numbers as v3's. */
export function encodeRequest(variant: SotwOrDelta, request: Request): Uint8Array {
  const common = {
    typeUrl: request.typeUrl,
    responseNonce: request.nonce ?? "",
    ...(request.node === undefined ? {} : { node: nodeOf(request.node) }),
    ...(request.error === undefined ? {} : { errorDetail: request.error }),
  };
  if (variant === "sotw") {
    const [resourceNames, resourceLocators] = split(request.names);
    const init = { ...common, versionInfo: request.version ?? "", resourceNames, resourceLocators };
    return toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, init));
  }
  const [resourceNamesSubscribe, resourceLocatorsSubscribe] = split(request.subscribe);
  const [resourceNamesUnsubscribe, resourceLocatorsUnsubscribe] = split(request.unsubscribe);
  const init = {
    ...common,
    resourceNamesSubscribe,
    resourceNamesUnsubscribe,
    resourceLocatorsSubscribe,
    resourceLocatorsUnsubscribe,
    initialResourceVersions: { ...request.initialVersions },
  };
  return toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, init));
}

/** The version as Envoy gives it, in numbers. */
function nodeOf({ userAgentVersion = "", ...node }: RequestNode) {
  const [majorNumber = 0, minorNumber = 0, patch = 0] = userAgentVersion.split(".").map(Number);
  const build = { case: "userAgentBuildVersion", value: { version: { majorNumber, minorNumber, patch } } } as const;
  return {
    ...node,
    clientFeatures: [...(node.clientFeatures ?? [])],
    ...(userAgentVersion === "" ? {} : { userAgentVersionType: build }),
  };
}

/** Names, and those that are locators: with dynamic parameters in braces, or with empty ones. */
function split(words: readonly string[] = []) {
  const names: string[] = [];
  const locators: { readonly name: string; readonly dynamicParameters: { readonly [key: string]: string } }[] = [];
  for (const word of words) {
    const [name, braces] = splitBraces(word);
    if (braces === undefined) names.push(word);
    else locators.push({ name, dynamicParameters: readParameters(braces) });
  }
  return [names, locators] as const;
}

/** One resource of a response. */
interface SeenResource {
  readonly name: string;
  /**
   * Undefined for a delta `Resource` without a body: a heartbeat if it has a TTL, else the name could not be resolved
   * (rule 138).
   */
  readonly content: Content | undefined;
  /** Delta only. */
  readonly version: string | undefined;
  readonly aliases: readonly string[];
  /** `10s`; undefined if none is told. */
  readonly ttl: string | undefined;
}

/** A response of either variant as a client sees it. */
export interface SeenResponse {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly SeenResource[];
  readonly removed: readonly string[];
  /** `resource_errors`, as `name!CODE`. */
  readonly errors: readonly string[];
  /** The server declares that the response only restarts TTLs. */
  readonly isHeartbeat: boolean;
}

type OnTheWire = Omit<SeenResponse, "isHeartbeat">;

/**
 * Decodes a response as a client would, and checks the rules for every response: the machine's account of it is true,
 * every body has the response's type (rule 2), and no forbidden field is written.
 */
export function decodeResponse(variant: SotwOrDelta, outgoing: OutgoingResponse): SeenResponse {
  const bytes = new Uint8Array(outgoing.body.length + outgoing.tail.length);
  bytes.set(outgoing.body.bytes);
  bytes.set(outgoing.tail, outgoing.body.length);
  const { isHeartbeat } = outgoing;
  const seen: SeenResponse = { ...(variant === "sotw" ? decodeSotw(bytes) : decodeDelta(bytes)), isHeartbeat };
  if (isHeartbeat) check(seen.removed.length === 0, "a heartbeat that removes");
  check(seen.nonce === outgoing.nonce, `nonce ${seen.nonce} on the wire, ${outgoing.nonce} beside it`);
  check(seen.version === outgoing.version, `version ${seen.version} on the wire, ${outgoing.version} beside it`);
  check(seen.resources.length === outgoing.resources, `${seen.resources.length} resources, ${outgoing.resources} said`);
  check(seen.removed.length === outgoing.removed, `${seen.removed.length} removals, ${outgoing.removed} said`);
  check(seen.nonce !== "", "an empty nonce (rule 1)");
  check(seen.version !== "", "an empty version (rule 1)");
  const names = [...seen.resources.map(({ name }) => name), ...seen.removed];
  check(new Set(names).size === names.length, `a name appears twice (rules 78, 96): ${names.join(" ")}`);
  return seen;
}

function decodeSotw(bytes: Uint8Array): OnTheWire {
  const response = fromBinary(DiscoveryResponseSchema, bytes);
  const errors = errorsIn(response.resourceErrors);
  allKnown(response);
  const { typeUrl, versionInfo: version, nonce } = response;
  const resources = response.resources.map((outer) => {
    const wrapper = outer.typeUrl === wrapperUrl ? fromBinary(ResourceSchema, outer.value) : undefined;
    const any = wrapper === undefined ? outer : wrapper.resource;
    check(any !== undefined, "a wrapper without a resource (Envoy on the wire, 3)");
    check(any.typeUrl === typeUrl, `a resource of type ${any.typeUrl} in a response of ${typeUrl} (rule 2)`);
    const said = readSample(any.typeUrl, any.value);
    const { name, content } = said;
    check(name !== undefined || wrapper !== undefined, `nothing says the name of ${content}`);
    if (wrapper !== undefined) {
      allKnown(wrapper);
      const [wrapped] = splitBraces(nameOf(wrapper));
      check(name === undefined || wrapped === name, `the wrapper of ${name} says that it is ${wrapped}`);
      check(
        wrapper.version === version,
        `the wrapper of ${wrapped} has the version ${wrapper.version}, not ${version}`,
      );
      const isNeeded = name === undefined || wrapper.ttl !== undefined || wrapper.resourceName !== undefined;
      check(isNeeded, `${name} is wrapped without need`);
    }
    const shown = wrapper === undefined ? String(name) : nameOf(wrapper);
    return { name: shown, content, version: undefined, aliases: [], ttl: ttlOf(wrapper) };
  });
  return { typeUrl, version, nonce, resources, removed: [], errors };
}

function decodeDelta(bytes: Uint8Array): OnTheWire {
  const response = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  const errors = errorsIn(response.resourceErrors);
  allKnown(response);
  const { typeUrl, systemVersionInfo: version, nonce, removedResources, removedResourceNames } = response;
  const removed = [...removedResources, ...removedResourceNames.map((name) => describeName(name))];
  const resources = response.resources.map((resource) => {
    const { version, aliases, resource: any } = resource;
    const name = nameOf(resource);
    const ttl = ttlOf(resource);
    if (ttl !== undefined && any === undefined)
      check(version !== "", `a heartbeat without version (rule 131): ${name}`);
    if (any === undefined) return { name, content: undefined, version, aliases, ttl };
    check(any.typeUrl === typeUrl, `a resource of type ${any.typeUrl} in a response of ${typeUrl} (rule 2)`);
    check(version !== "", `no version for ${name} (rule 81)`);
    const said = readSample(any.typeUrl, any.value);
    const [own] = splitBraces(name);
    check(said.name === undefined || said.name === own, `resource ${name} says that it is ${said.name}`);
    return { name, content: said.content, version, aliases, ttl };
  });
  return { typeUrl, version, nonce, resources, removed, errors };
}

const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

function ttlOf(resource: ResourceMessage | undefined): string | undefined {
  const { ttl } = resource ?? {};
  return ttl === undefined ? undefined : `${Number(ttl.seconds) + ttl.nanos / 1e9}s`;
}

/** The errors of single resources, each about one name only and with a text that helps. */
function errorsIn(errors: readonly ResourceError[]): readonly string[] {
  const names = errors.map(({ resourceName, errorDetail }) => {
    const name = resourceName?.name ?? "";
    check(name !== "", "an error without a name");
    check(errorDetail !== undefined && errorDetail.code !== 0, `an error about ${name} without a code`);
    check(errorDetail.message.length > 10, `an error about ${name} that helps nobody`);
    for (const part of [resourceName, errorDetail]) if (part !== undefined) allKnown(part);
    return `${name}!${errorDetail.code}`;
  });
  check(new Set(names.map((name) => name.replace(/!\d+$/, ""))).size === names.length, "two errors about one name");
  return names;
}

/** A name, with the constraints of a variant in braces. Only one of the two fields may be set. */
function nameOf({ name, resourceName }: ResourceMessage): string {
  check(name === "" || resourceName === undefined, `${name} has two names`);
  return resourceName === undefined ? name : describeName(resourceName);
}

function describeName({ name, dynamicParameterConstraints }: ResourceName): string {
  return `${name}${describeConstraints(dynamicParameterConstraints)}`;
}

function allKnown(message: Message): void {
  check(
    message.$unknown === undefined || message.$unknown.length === 0,
    "the response has fields that no client knows",
  );
}

function check(holds: boolean, complaint: string): asserts holds {
  if (!holds) throw new Error(`broken response: ${complaint}`);
}
