import {
  canonicalName,
  envoyRegistry,
  isGlobName,
  type ResourceName,
  type ResourceType,
  readBody,
  type Steps,
  type Version,
} from "@xdskit/api";
import { equalBytes } from "../../wire/basics/equal-bytes.js";
import { statusCode } from "../../wire/basics/status-code.js";
import type { SentBody, SentResponse } from "../../wire/responses/read-response.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import { type WantedNames, wildcard } from "../asked/wanted-names.js";
import type { ClientStreamOptions } from "../contract/contract.js";
import type { Limits } from "../contract/limits.js";
import { Received, type ReceivedParts, type ReceivedResource } from "../contract/received.js";
import type { BadResource } from "../contract/rejection.js";
import { badResource, findingsOf, reasonsOf } from "../contract/rejection.js";
import { type CurrentResources, weightOf } from "../current/current-resources.js";
import type { UpdateDraft } from "../current/update-draft.js";
import type { NamedResource } from "./named-resource.js";
import type { Rejections } from "./rejections.js";
import type { BadPart, NamedResponse } from "./response-reading.js";

/** The names and resources of one type that a client knows. */
export interface KnownOfType {
  readonly type: ResourceType;
  readonly options: ClientStreamOptions;
  readonly limits: Limits;
  readonly wanted: WantedNames;
  readonly current: CurrentResources;
  readonly rejections: Rejections;
}

/** The target of a response's resources. */
interface Taking extends KnownOfType {
  readonly draft: UpdateDraft;
  /** The number of the stream. */
  readonly stream: number;
  readonly now: number;
}

/** The parts that belong to a whole response. */
interface TakenResponse extends Taking {
  readonly sent: ArrivedResponse;
  readonly named: NamedResponse;
}

/** A response, and by their places those of its resources that were judged before (`ClientStream.prepare`). */
export interface ArrivedResponse extends SentResponse {
  readonly judged?: ReadonlyMap<number, Judged> | undefined;
}

/** A resource for the client's watchers, or its faults. */
export type Judged = Received | BadResource;

/** Why a response cannot be taken at all. */
export function faultOf(type: ResourceType, sent: SentResponse, limits: Limits): BadResource | undefined {
  const { count, typeUrl } = sent;
  if (count > limits.resourcesPerResponse) {
    const most = `${count} resources in one response, and ${limits.resourcesPerResponse} are taken`;
    return badResource(type, undefined, "XDSKIT_UPDATE_REJECTED", most);
  }
  if (typeUrl === "" || typeUrl === type.typeUrl || typeUrl === type.v2TypeUrl) return undefined;
  const wrong = `the response's type is ${typeUrl.slice(0, 200)}, and ${type.typeUrl} was asked for`;
  return badResource(type, undefined, "XDSKIT_TYPE_MISMATCH", wrong);
}

/** Takes what is good in a response; returns what is bad, and the number of good resources. */
export function takeResponse(
  taking: TakenResponse,
  fullStateOf: Parameters<typeof takeFullState>[1] | undefined,
): { readonly bad: readonly BadPart[]; readonly good: number } {
  const { named, wanted, rejections } = taking;
  if (fullStateOf !== undefined) takeFullState(taking, fullStateOf);
  const refused = takeResources(taking);
  const bad = [...named.bad, ...refused];
  noteRejections(taking, bad);
  takeRemovals(taking);
  takeErrors(taking, bad);
  wanted.is(wildcard, "current");
  if (bad.length === 0) rejections.forgetUnnamed();
  return { bad, good: named.resources.length - refused.length };
}

/** Takes the good and wanted resources; returns the bad ones. Unchanged ones are neither copied nor decoded. */
function takeResources(taking: TakenResponse): readonly BadPart[] {
  const { wanted, named } = taking;
  const bad: BadPart[] = [];
  for (const one of named.resources) {
    // Rule 165.
    if (!wanted.covers(one.key, one.sent.aliases)) continue;
    const problem = one.sent.body === undefined ? takeBodyless(one, taking) : takeBody(one, taking);
    if (problem !== undefined) bad.push({ ...problem, index: one.index, version: one.sent.version });
  }
  return bad;
}

/** Remembers the faults of the requested names. */
function noteRejections(taking: TakenResponse, bad: readonly BadPart[]): void {
  const { wanted, rejections, now: at } = taking;
  for (const { name, version, findings } of bad) {
    const rejection = { version: version || taking.sent.version, message: reasonsOf(findings), at };
    if (name === undefined) {
      rejections.set(undefined, rejection);
      continue;
    }
    const key = canonicalName(name);
    if (!wanted.covers(key, [])) continue;
    wanted.is(key, "rejected");
    rejections.set(key, rejection);
    if (taking.options.dropRejected) dropCurrent(key, taking);
  }
}

/** A88: the current resource must not be used any longer. */
function dropCurrent(key: ResourceName, { wanted, current, draft }: Taking): void {
  const gone = current.delete(key);
  if (gone === undefined) return;
  draft.remove(key, gone.resource.name, "rejected");
  for (const alias of gone.resource.aliases) wanted.is(canonicalName(alias), "rejected");
}

/** A heartbeat (rules 130, 131, 134), or a name that could not be resolved (rule 138). */
function takeBodyless({ key, sent }: NamedResource, taking: TakenResponse): undefined {
  const { current } = taking;
  if (sent.ttl === undefined) {
    for (const name of new Set([key, ...sent.aliases.map(canonicalName)])) takeAbsence(name, taking);
    return;
  }
  const found = current.get(key);
  if (found !== undefined) current.keepAlive(found, sent.ttl, taking.now);
}

function takeBody(one: NamedResource, taking: TakenResponse): BadResource | undefined {
  const { key, name, sent } = one;
  const { type, options, current, draft, stream, now } = taking;
  const { bytes } = taking.sent;
  const { body, aliases, ttl } = sent;
  if (body === undefined) return undefined;
  const version = versionOf(one, taking.sent, options);
  const found = current.get(key);
  const before = found?.resource;
  const { start, end } = body.value;
  const isSameBody = hasBody(before, body, bytes);
  if (isSameBody && sameAliases(before.aliases, aliases) && before.ttl === ttl) {
    const isKept = options.variant === "sotw" || before.version === version;
    if (!isKept && version.length > before.version.length && isTooMuch(withVersion(before, version), key, taking))
      return tooMuch(type, name, taking);
    const again = isKept ? before : Received.again(before, withVersion(before, version), options);
    // Watchers that heard of its removal must hear that it is back.
    if (found?.isGone) draft.upsert(key, again);
    current.set(key, again, version, stream, now);
    arrived(one, taking);
    return undefined;
  }
  if (before === undefined && current.size >= taking.limits.resourcesPerType) {
    const most = `more than ${taking.limits.resourcesPerType} resources of this type are not taken`;
    return badResource(type, name, "XDSKIT_UPDATE_REJECTED", most);
  }
  if (isTooMuch({ name, version, aliases, value: isSameBody ? before.value : bytes.subarray(start, end) }, key, taking))
    return tooMuch(type, name, taking);
  const received = isSameBody
    ? Received.again(before, partsOf(one, body, { type, version, value: before.value }), options)
    : (taking.sent.judged?.get(one.index) ?? judgedOf(one, body, taking));
  if ("findings" in received) return received;
  current.set(key, received, version, stream, now);
  draft.upsert(key, received);
  arrived(one, taking);
  return undefined;
}

/**
 * Judges the resources that `takeResources` would, with a stop after each. `forServer`: makes resources of snapshots of
 * them, too.
 */
export function* judgeAll(
  {
    type,
    options,
    sent,
    named,
    wanted,
    current,
  }: Pick<TakenResponse, "type" | "options" | "sent" | "named" | "wanted" | "current">,
  judged: Map<number, Judged>,
  forServer: boolean,
): Steps<void> {
  for (const one of named.resources) {
    const { body, aliases } = one.sent;
    if (body === undefined || !wanted.covers(one.key, aliases)) continue;
    if (hasBody(current.get(one.key)?.resource, body, sent.bytes)) continue;
    const result = judgedOf(one, body, { type, options, sent });
    if (forServer && result instanceof Received) result.tryResource();
    judged.set(one.index, result);
    yield;
  }
}

function hasBody<Known extends ReceivedResource>(
  before: Known | undefined,
  { typeUrl, value: { start, end } }: SentBody,
  bytes: Uint8Array,
): before is Known {
  if (before?.typeUrl !== typeUrl || before.value.length !== end - start) return false;
  return equalBytes(before.value, 0, bytes, start, end - start);
}

function versionOf({ sent }: NamedResource, response: SentResponse, { variant }: ClientStreamOptions): Version {
  return variant === "delta" ? sent.version : response.version;
}

function partsOf(
  { name, sent: { aliases, ttl } }: NamedResource,
  body: SentBody,
  { type, version, value }: Pick<ReceivedParts, "type" | "version" | "value">,
): ReceivedParts {
  // Not a text of its own for each resource.
  const typeUrl = body.typeUrl === type.typeUrl ? type.typeUrl : body.typeUrl;
  return { type, name, version, aliases, ttl, typeUrl, value };
}

function judgedOf(
  one: NamedResource,
  body: SentBody,
  { type, options, sent }: Pick<TakenResponse, "type" | "options" | "sent">,
): Judged {
  // A copy, which `slice` of a Buffer is not: the response as a whole is not kept.
  const value = new Uint8Array(sent.bytes.subarray(body.value.start, body.value.end));
  return judged(partsOf(one, body, { type, version: versionOf(one, sent, options), value }), options);
}

function judged(parts: ReceivedParts, options: ClientStreamOptions): Judged {
  const { type, name, typeUrl, value } = parts;
  const { check, registry = envoyRegistry() } = options;
  if (check === undefined) return new Received(parts, options);
  try {
    const message = readBody(type, typeUrl, value, registry);
    const findings = check(type, name, message);
    if (findings.some(({ severity }) => severity === "error")) return { name, findings };
    return new Received(parts, options, message);
  } catch (error) {
    return findingsOf(type, name, error);
  }
}

/** A resource that is smaller than the one it replaces is always taken. */
function isTooMuch(resource: Parameters<typeof weightOf>[0], key: ResourceName, { current, limits }: Taking): boolean {
  const before = current.get(key)?.resource;
  if (before !== undefined && weightOf(resource) <= weightOf(before)) return false;
  return current.weightWith(key, resource) > limits.retainedBytes;
}

function tooMuch(type: ResourceType, name: ResourceName, { limits }: Taking): BadResource {
  const most = `it would be more than ${limits.retainedBytes} bytes that are retained from this server`;
  return badResource(type, name, "XDSKIT_UPDATE_REJECTED", most);
}

function withVersion({ type, name, aliases, ttl, typeUrl, value }: ReceivedParts, version: Version): ReceivedParts {
  return { type, name, version, aliases, ttl, typeUrl, value };
}

/** It exists: stop waiting, whichever name asked for it. */
function arrived({ key, sent }: NamedResource, { wanted, rejections, draft }: TakenResponse): void {
  rejections.delete(key);
  for (const name of [key, ...sent.aliases.map(canonicalName)]) {
    wanted.is(name, "current");
    draft.there(name);
  }
}

type TakenAbsence = Pick<Taking, "wanted" | "current" | "draft" | "rejections" | "options">;

/** The server says that a requested name does not exist. */
export function takeAbsence(key: ResourceName, taking: TakenAbsence, error?: ResourceError): void {
  const { wanted, current, draft, rejections, options } = taking;
  rejections.delete(key);
  const kept = options.keepRemoved ? current.find(key) : undefined;
  if (kept !== undefined) {
    wanted.is(key, "current");
    if (!kept.isGone)
      draft.failing(error ?? { name: kept.resource.name, code: statusCode.notFound, message: takenAway });
    kept.isGone = true;
    return;
  }
  const gone = current.get(key) === undefined ? undefined : current.delete(key);
  if (gone !== undefined) {
    draft.remove(key, gone.resource.name, "removed");
    for (const alias of gone.resource.aliases) {
      // Another one may have it as its alias or, which is not gone with it either, as its name.
      const known = canonicalName(alias);
      if (known === key || current.find(known) !== undefined) continue;
      rejections.delete(known);
      if (wanted.is(known, "absent")) draft.absent(known, wanted.spelled(known), "told", error);
    }
  }
  // An alias exists as long as its resource.
  if (current.find(key) !== undefined) return;
  if (key !== wildcard && wanted.is(key, "absent") && gone === undefined)
    draft.absent(key, wanted.spelled(key), "told", error);
}

const takenAway = "the server has it no more; it stays in use";

/**
 * The removals of a delta response. A removal of a name that is neither wanted nor there, or a second one, says nothing
 * new.
 */
function takeRemovals(taking: TakenResponse): void {
  const { sent, named } = taking;
  const twice = new Set(named.bad.flatMap(({ name }) => (name === undefined ? [] : [canonicalName(name)])));
  for (const name of sent.removed) {
    const key = canonicalName(name);
    if (!twice.has(key)) takeAbsence(key, taking);
  }
}

/**
 * A server's errors about single resources that it does not send (xRFC TP3). `bad`: the sent ones that were not taken.
 */
function takeErrors(taking: TakenResponse, bad: readonly BadPart[]): void {
  const { sent, named, wanted, draft } = taking;
  if (sent.errors.length === 0) return;
  const given = new Set(named.resources.flatMap(({ key, sent: { body } }) => (body === undefined ? [] : [key])));
  for (const { name } of bad) if (name !== undefined) given.delete(canonicalName(name));
  for (const error of sent.errors) {
    const key = canonicalName(error.name);
    // If it says that a resource does not exist and sends it all the same, it exists.
    if (!wanted.covers(key, []) || given.has(key)) continue;
    // A collection that may not be seen is no empty one.
    const isDenied = error.code === statusCode.permissionDenied && key !== wildcard && !isGlobName(key);
    if (error.code === statusCode.notFound || isDenied) {
      takeAbsence(key, taking, error);
    } else {
      wanted.waitNoMore(key);
      draft.failing(error);
    }
  }
}

/**
 * Rules 62–64: names that a full state lacks do not exist, if the server knew on this stream that they are asked for:
 * those it sent, and `known`. Other wanted names that are there go into `lacking`.
 */
function takeFullState(
  taking: TakenResponse,
  { known, lacking }: { readonly known: ReadonlySet<ResourceName>; readonly lacking: Set<ResourceName> },
): void {
  const { sent, named, current, wanted, stream } = taking;
  const missing = new Set<ResourceName>();
  const erring = new Set(sent.errors.map(({ name }) => canonicalName(name)));
  const isKnown = (key: ResourceName) => known.has(wildcard) || known.has(key);
  for (const { key, stream: last } of current) {
    const isMentioned = named.mentioned.has(key) || erring.has(key);
    if (isMentioned) continue;
    if (last === stream || isKnown(key)) missing.add(key);
    else if (wanted.has(key)) lacking.add(key);
  }
  for (const key of known) {
    const isMentioned = named.mentioned.has(key) || erring.has(key);
    const state = wanted.stateOf(key);
    if (!isMentioned && (state === "requested" || state === "rejected")) missing.add(key);
  }
  for (const key of missing) takeAbsence(key, taking);
}

function sameAliases(a: readonly ResourceName[], b: readonly ResourceName[]): boolean {
  return a.length === b.length && a.every((alias, index) => alias === b[index]);
}
