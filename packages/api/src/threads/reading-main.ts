import { parentPort, workerData } from "node:worker_threads";
import { readResources } from "../files/resource-file.js";
import { type NamedInRequest, resourceRequestSteps } from "../files/resource-request.js";
import { readJsonResponse } from "../json/json-response.js";
import type { PositionedResource } from "../reading/file-reading.js";
import type { Reference } from "../references/reference.js";
import { createRegistry } from "../registry/registry.js";
import { unpackTypes } from "../resource-types/packed-types.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { atOnce } from "../timing/in-turns.js";
import { shownBody } from "../writing/shown-body.js";
import type { PostedResource, ReadRest, ThreadAnswer, ThreadRequest, ThreadStart, ToRead } from "./thread-messages.js";

/** The most of one message: the main thread takes it over in some milliseconds. */
const maxResources = 500;
const maxReferences = 5_000;
const maxBytes = 1024 * 1024;

const { descriptorSet, types: packed, validate, envoy } = workerData as ThreadStart;
const registry = descriptorSet === undefined ? undefined : createRegistry({ descriptorSets: [descriptorSet] });
const types = unpackTypes(packed, registry);
const port = parentPort as NonNullable<typeof parentPort>;
const options = { registry, types, validate, envoy };

interface ReadResult {
  readonly resources: readonly PositionedResource[];
  readonly named: readonly NamedInRequest[];
  readonly end: ReadRest;
  sent: number;
  sentNames: number;
}

let result: ReadResult | undefined;

port.on("message", (request: ThreadRequest) => {
  if (request !== "next") result = { ...resultOf(request), sent: 0, sentNames: 0 };
  if (result === undefined) return;
  const resources = nextResources(result);
  const named = result.named.slice(result.sentNames, result.sentNames + maxReferences);
  result.sentNames += named.length;
  const isLast = result.sent >= result.resources.length && result.sentNames >= result.named.length;
  const answer: ThreadAnswer = {
    resources: resources.map(onItsWay),
    named: named.map(({ type, name }) => [type.typeUrl, name]),
    end: isLast ? result.end : undefined,
  };
  if (isLast) result = undefined;
  port.postMessage(answer);
});

function resultOf(request: ToRead): Pick<ReadResult, "resources" | "named" | "end"> {
  switch (request.kind) {
    case "file": {
      const { resources, ...rest } = readResources(request, options);
      return { resources, named: [], end: { kind: "file", rest } };
    }
    case "request": {
      const steps = resourceRequestSteps(request.bytes, { ...options, ...request.how });
      const { resources, named, ...rest } = atOnce(steps);
      return { resources, named, end: { kind: "request", rest } };
    }
    case "response": {
      const type = types.byTypeUrl(request.type)?.type as ResourceType;
      const rest = readJsonResponse(request.bytes, { registry, types, type, ...request.how });
      return { resources: [], named: [], end: { kind: "response", rest } };
    }
    case "resource": {
      const type = types.byTypeUrl(request.type)?.type as ResourceType;
      const shown = shownBody({ type, body: request.bytes }, { registry, ...request.how });
      const rest = shown && { name: shown.name, text: JSON.stringify(shown.json) };
      return { resources: [], named: [], end: { kind: "resource", rest } };
    }
  }
}

function nextResources(from: ReadResult): readonly PositionedResource[] {
  const start = from.sent;
  let references = 0;
  let bytes = 0;
  while (from.sent < from.resources.length && from.sent - start < maxResources) {
    const resource = from.resources[from.sent]?.resource;
    references += resource?.references.length ?? 0;
    bytes += resource?.body.length ?? 0;
    if (from.sent > start && (references > maxReferences || bytes > maxBytes)) break;
    from.sent += 1;
  }
  return from.resources.slice(start, from.sent);
}

function onItsWay({ resource, where }: PositionedResource): PostedResource {
  const { references, ...rest } = resource;
  return { resource: { ...rest, type: resource.type.typeUrl }, references: inRuns(references), where };
}

/** An object for each of a hundred thousand references would hold up the main thread. */
function inRuns(references: readonly Reference[]): PostedResource["references"] {
  const runs: [string, ...string[]][] = [];
  for (const { type, name } of references) {
    const last = runs.at(-1);
    if (last?.[0] === type) last.push(name);
    else runs.push([type, name]);
  }
  return runs;
}
