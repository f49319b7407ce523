import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { type Finding, type ResourceName, type ResourceType, resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import {
  type ClientStream,
  type ClientStreamEvent,
  type ClientStreamLimits,
  type ClientStreamOptions,
  createClientStream,
  receivedResource,
} from "../../index.js";
import { millisecondsOf, sampleResource } from "../sample-resources.js";
import { typeOf } from "../sample-world.js";
import type { Case, Mode } from "../transcripts/transcript.js";
import { splitContent } from "../transcripts/transcript-request.js";
import type { Ran } from "../transcripts/transcript-run.js";
import { contentOf, describeEffect, describeRequest } from "./client-lines.js";
import { responseBytes } from "./client-response.js";

const mostStops = 50;
const node = toBinary(NodeSchema, create(NodeSchema, { id: "test" }));

/** Runs a case of a client's end in one of its modes. Throws if a request breaks what holds for every request. */
export function runClientCase(one: Case, mode: Mode): readonly Ran[] {
  const counts = new Map<string, number>();
  const only = mode.ads ? undefined : typeInSteps(one, mode);
  let settings: ReadonlyMap<string, string> = new Map();
  let made: ClientStream | undefined;
  let out: string[] = [];
  let now = 0;
  let isOpen = false;
  let isBlocked = false;
  let requests = 0;
  const inMode = (text: string) => (mode.type === undefined ? text : text.replaceAll("TYPE", mode.type));
  const shown = { received: one.show.has("received"), versions: one.show.has("versions") };

  const client = (): ClientStream => {
    made ??= createClientStream({
      variant: mode.variant,
      api: mode.api,
      types: resourceTypes,
      node,
      check,
      only: only === undefined ? undefined : typeOf(only),
      nodeOn: settings.get("node") === "every" ? "every" : "first",
      keepRemoved: settings.get("removed") === "keep",
      dropRejected: settings.get("rejected") === "drop",
      answers: settings.get("answers") === "when-told" ? "when-told" : "at-once",
      absentAfterMs: settings.has("absent") ? millisecondsOf(settings.get("absent") ?? "") : undefined,
      limits: limitsOf(settings),
    });
    return made;
  };

  function step(event: ClientStreamEvent): void {
    for (const effect of client().step(event, now)) {
      const line = describeEffect(effect, shown);
      if (line !== undefined) out.push(line);
      if (effect.kind === "close") isOpen = false;
    }
    pull();
  }

  function pull(): void {
    if (isBlocked) return;
    for (let count = 0; ; count++) {
      const request = client().next();
      if (request === undefined) return;
      if (!isOpen) throw new Error("a request without a stream");
      if (count === mostStops) throw new Error("requests without end");
      const { line, hasNode } = describeRequest(request, mode.variant, mode.api);
      const wantsNode = requests === 0 || settings.get("node") === "every";
      // Rules 113 and 116.
      if (hasNode !== wantsNode) throw new Error(`${hasNode ? "a" : "no"} node in request ${requests} of the stream`);
      requests++;
      out.push(line);
    }
  }

  /** Time goes by, with a stop wherever the machine wants to hear of it. */
  function pass(milliseconds: number): void {
    const end = now + milliseconds;
    for (let stops = 0; stops < mostStops; stops++) {
      const due = client().deadline();
      if (due === undefined || due > end) {
        now = end;
        return;
      }
      now = Math.max(now, due);
      step({ kind: "time" });
    }
    throw new Error(`it wanted to hear of the time ${mostStops} times in ${milliseconds} ms`);
  }

  function run(text: string): void {
    const [verb = "", ...words] = text.split(/\s+/);
    switch (verb) {
      case "client":
        settings = new Map(words.map((word) => word.split("=", 2) as [string, string]));
        break;
      case "subscribe":
      case "unsubscribe":
        step({ kind: verb, type: typeOf(words[0] ?? ""), names: words.slice(1) });
        break;
      case "hold":
        step(holdEvent(words));
        break;
      case "forget":
        step({ kind: "forget-versions" });
        break;
      case "open":
        isOpen = true;
        requests = 0;
        step({ kind: "opened" });
        break;
      case "close":
        isOpen = false;
        step({ kind: "closed" });
        break;
      case "<":
        step({
          kind: "response",
          bytes: responseBytes(words.join(" "), {
            variant: mode.variant,
            api: mode.api,
            only,
            count: (type) => {
              const count = (counts.get(type) ?? 0) + 1;
              counts.set(type, count);
              return count;
            },
          }),
        });
        break;
      case "answer":
        step({
          kind: "answer",
          response: Number((words[0] ?? "").slice(1)),
          error: words.length > 1 ? words.slice(1).join(" ") : undefined,
        });
        break;
      case "wait":
        pass(millisecondsOf(words[0] ?? ""));
        break;
      case "block":
      case "unblock":
        isBlocked = verb === "block";
        pull();
        break;
      default:
        throw new Error(`unknown step: ${verb}`);
    }
  }

  return one.steps.map((step) => {
    out = [];
    try {
      run(inMode(step.text));
    } catch (error) {
      throw new Error(`${one.file}:${step.number}: ${step.text}\n  ${(error as Error).message}`, { cause: error });
    }
    const quiet = !isOpen || /^(?:client|block|open)\b/.test(step.text);
    return { step, got: out.length > 0 ? out : quiet ? undefined : ["∅"] };
  });
}

/** The type of a per-type stream: the one that the case speaks of first. */
function typeInSteps({ steps }: Case, mode: Mode): string {
  for (const { text } of steps) {
    const [, word] = /^(?:subscribe|hold) (\S+)/.exec(text) ?? [];
    if (word !== undefined) return word === "TYPE" ? (mode.type ?? word) : word;
  }
  throw new Error("a case on a per-type stream subscribes to something");
}

/** `hold cluster a=1#7 b=2 v=3`. */
function holdEvent([word = "", ...words]: readonly string[]): ClientStreamEvent {
  const version = words.find((one) => one.startsWith("v="))?.slice(2) ?? "";
  const resources = words
    .filter((one) => !one.startsWith("v="))
    .map((one) => {
      const [name, said] = splitContent(one);
      const [content = "", own] = said.split("#");
      return receivedResource(sampleResource(word, name, content), own ?? content.split("~")[0] ?? "");
    });
  return { kind: "hold", type: typeOf(word), resources, version };
}

function limitsOf(settings: ReadonlyMap<string, string>): Partial<ClientStreamLimits> {
  const limits: { -readonly [K in keyof ClientStreamLimits]?: ClientStreamLimits[K] } = {};
  for (const key of ["resourcesPerResponse", "resourcesPerType", "errorCharacters"] as const) {
    if (settings.has(key)) limits[key] = Number(settings.get(key));
  }
  return limits;
}

/** Rejects contents that are called bad. */
const check: ClientStreamOptions["check"] = (type: ResourceType, name: ResourceName, message: Message) => {
  const content = contentOf(type, message);
  const finding: Finding = {
    code: "XDSKIT_RULE_BROKEN",
    severity: "error",
    type: type.name,
    resource: name,
    field: "label",
    message: `must not be ${content}`,
    rule: "const: good",
  };
  if (content.startsWith("odd")) return [{ ...finding, severity: "warning" }];
  return content.startsWith("bad") ? [finding] : [];
};
