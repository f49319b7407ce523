import { parentPort, workerData } from "node:worker_threads";
import { createRegistry, type PositionedResource, type ResourceFile, readResources, unpackTypes } from "@xdskit/api";
import type { SentResource, ThreadAnswer, ThreadRequest, ThreadStart } from "./thread-messages.js";

/** The number of resources in one message: the main thread takes them over in some milliseconds. */
const batch = 500;

const { descriptorSet, types: packed, validate, envoy } = workerData as ThreadStart;
const registry = descriptorSet === undefined ? undefined : createRegistry({ descriptorSets: [descriptorSet] });
const types = unpackTypes(packed, registry);
const port = parentPort as NonNullable<typeof parentPort>;

let file: ResourceFile | undefined;
let sent = 0;

port.on("message", (request: ThreadRequest) => {
  if (request !== "next") {
    file = readResources(request, { registry, types, validate, envoy });
    sent = 0;
  }
  if (file === undefined) return;
  const { resources, ...rest } = file;
  const part = resources.slice(sent, sent + batch);
  sent += part.length;
  const isLast = sent >= resources.length;
  const answer: ThreadAnswer = {
    resources: part.map(onItsWay),
    end: isLast ? rest : undefined,
  };
  if (isLast) file = undefined;
  port.postMessage(answer);
});

function onItsWay({ resource, where }: PositionedResource): SentResource {
  return { resource: { ...resource, type: resource.type.typeUrl }, where };
}
