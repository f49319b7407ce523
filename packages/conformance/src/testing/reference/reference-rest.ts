import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { envoyRegistry, resourceTypes } from "@xdskit/api";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Mistake } from "./mistakes.js";
import { namesOf } from "./reference-names.js";
import type { ReferenceState } from "./reference-state.js";
import { hasWildcard } from "./session.js";

/** How long a poll is parked that is up to date. */
const holdMs = 250;

/** What is sent back. */
interface Answer {
  readonly status: number;
  readonly body?: string;
}

/** Answers polls on a free port of 127.0.0.1. */
export async function startReferenceRest(
  state: ReferenceState,
  mistakes: ReadonlySet<Mistake>,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const { status, body } = await answerTo(request.url ?? "", Buffer.concat(parts).toString(), state, mistakes);
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function answerTo(
  url: string,
  text: string,
  state: ReferenceState,
  mistakes: ReadonlySet<Mistake>,
): Promise<Answer> {
  const path = url.slice("/v3/discovery:".length);
  const type = resourceTypes.all.find(({ restPath }) => restPath === path)?.typeUrl;
  if (type === undefined) return { status: 404 };
  const registry = envoyRegistry();
  let json: unknown = {};
  try {
    json = JSON.parse(text);
  } catch {
    if (!mistakes.has("rest-takes-anything")) return { status: 400 };
  }
  if (mistakes.has("rest-one-spelling") && /"[a-z]+_/.test(text)) return { status: 400 };
  const asked = fromJson(DiscoveryRequestSchema, json as object as never, { registry });
  const isDeaf = asked.versionInfo !== "" && mistakes.has("rest-deaf");
  if ((asked.versionInfo === state.version && !mistakes.has("rest-answers-always")) || isDeaf) {
    const isChanged = await changedWithin(state);
    if (!isChanged || isDeaf) return { status: 304 };
  }
  const names = new Set(mistakes.has("rest-names-ignored") ? [] : asked.resourceNames);
  const there = [...state.of(type).values()];
  const isAll = names.size === 0 && (hasWildcard(type) || mistakes.has("rest-names-ignored"));
  const wanted = there.filter((one) => isAll || namesOf(one, mistakes).some((name) => names.has(name)));
  const sent = mistakes.has("rest-lacks-one") ? wanted.slice(0, -1) : wanted;
  const response = create(DiscoveryResponseSchema, {
    typeUrl: type,
    versionInfo: state.version,
    nonce: state.version,
    resources: sent.map(({ body }) => ({ typeUrl: type, value: body })),
  });
  const useProtoFieldName = mistakes.has("rest-proto-names");
  return {
    status: 200,
    body: JSON.stringify(toJson(DiscoveryResponseSchema, response, { registry, useProtoFieldName })),
  };
}

/** Whether something changes while the poll is parked. */
function changedWithin(state: ReferenceState): Promise<boolean> {
  return new Promise((resolve) => {
    const over = (isChanged: boolean): void => {
      leave();
      clearTimeout(timer);
      resolve(isChanged);
    };
    const timer = setTimeout(() => over(false), holdMs);
    const leave = state.join({ isInSync: true, contentChanged: () => over(true) });
  });
}
