import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { atOnce, type Finding, type ResourceName, type ResourceType, resourceTypes } from "@xdskit/api";
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

const maxStops = 50;
const node = toBinary(NodeSchema, create(NodeSchema, { id: "test" }));

/** Runs a case of a client's end in one of its modes. Throws if a request breaks a rule for every request. */
export function runClientCase(one: Case, mode: Mode): readonly Ran[] {
  return new ClientCaseRun(one, mode).play();
}

/** The machine of a client's end, and its actions in the current step. */
class ClientCaseRun {
  readonly #counts = new Map<string, number>();
  #responses = 0;
  readonly #only: string | undefined;
  #settings: ReadonlyMap<string, string> = new Map();
  #made: ClientStream | undefined;
  #out: string[] = [];
  #now = 0;
  #isOpen = false;
  #isBlocked = false;
  #requests = 0;
  readonly #shown: { received: boolean; versions: boolean };
  readonly #one: Case;
  readonly #mode: Mode;

  constructor(one: Case, mode: Mode) {
    this.#one = one;
    this.#mode = mode;
    this.#only = mode.ads ? undefined : typeInSteps(one, mode);
    this.#shown = { received: one.show.has("received"), versions: one.show.has("versions") };
  }

  play(): readonly Ran[] {
    return this.#one.steps.map((step) => {
      this.#out = [];
      try {
        this.#run(this.#inMode(step.text));
      } catch (error) {
        throw new Error(`${this.#one.file}:${step.number}: ${step.text}\n  ${(error as Error).message}`, {
          cause: error,
        });
      }
      const quiet = !this.#isOpen || /^(?:client|block|open)\b/.test(step.text);
      return { step, got: this.#out.length > 0 ? this.#out : quiet ? undefined : ["∅"] };
    });
  }

  #inMode(text: string) {
    return this.#mode.type === undefined ? text : text.replaceAll("TYPE", this.#mode.type);
  }

  #client(): ClientStream {
    this.#made ??= createClientStream({
      variant: this.#mode.variant,
      api: this.#mode.api,
      types: resourceTypes,
      node,
      check,
      only: this.#only === undefined ? undefined : typeOf(this.#only),
      nodeOn: this.#settings.get("node") === "every" ? "every" : "first",
      keepRemoved: this.#settings.get("removed") === "keep",
      dropRejected: this.#settings.get("rejected") === "drop",
      answers: this.#settings.get("answers") === "when-told" ? "when-told" : "at-once",
      absentAfterMs: this.#settings.has("absent") ? millisecondsOf(this.#settings.get("absent") ?? "") : undefined,
      limits: limitsOf(this.#settings),
    });
    return this.#made;
  }

  #step(event: ClientStreamEvent): void {
    for (const effect of this.#client().step(event, this.#now)) {
      const line = describeEffect(effect, this.#shown);
      if (line !== undefined) this.#out.push(line);
      if (effect.kind === "close") this.#isOpen = false;
    }
    this.#pull();
  }

  #pull(): void {
    if (this.#isBlocked) return;
    for (let count = 0; ; count++) {
      const request = this.#client().next();
      if (request === undefined) return;
      if (!this.#isOpen) throw new Error("a request without a stream");
      if (count === maxStops) throw new Error("requests without end");
      const { line, hasNode } = describeRequest(request, this.#mode.variant, this.#mode.api);
      const wantsNode = this.#requests === 0 || this.#settings.get("node") === "every";
      // Rules 113 and 116.
      if (hasNode !== wantsNode)
        throw new Error(`${hasNode ? "a" : "no"} node in request ${this.#requests} of the stream`);
      this.#requests++;
      this.#out.push(line);
    }
  }

  /** Time goes by, with a stop at each deadline of the machine. */
  #pass(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let stops = 0; stops < maxStops; stops++) {
      const due = this.#client().deadline();
      if (due === undefined || due > end) {
        this.#now = end;
        return;
      }
      this.#now = Math.max(this.#now, due);
      this.#step({ kind: "time" });
    }
    throw new Error(`it wanted to hear of the time ${maxStops} times in ${milliseconds} ms`);
  }

  /** Every second response is prepared, which makes no difference. */
  #respond(bytes: Uint8Array): void {
    this.#responses += 1;
    if (this.#responses % 2 === 0) atOnce(this.#client().prepare(bytes, false));
    this.#step({ kind: "response", bytes });
  }

  #run(text: string): void {
    const [verb = "", ...words] = text.split(/\s+/);
    switch (verb) {
      case "client":
        this.#settings = new Map(words.map((word) => word.split("=", 2) as [string, string]));
        break;
      case "subscribe":
      case "unsubscribe":
        this.#step({ kind: verb, type: typeOf(words[0] ?? ""), names: words.slice(1) });
        break;
      case "hold":
        this.#step(holdEvent(words));
        break;
      case "forget":
        this.#step({ kind: "forget-versions" });
        break;
      case "open":
        this.#isOpen = true;
        this.#requests = 0;
        this.#step({ kind: "opened" });
        break;
      case "close":
        this.#isOpen = false;
        this.#step({ kind: "closed" });
        break;
      case "<":
        this.#respond(
          responseBytes(words.join(" "), {
            variant: this.#mode.variant,
            api: this.#mode.api,
            only: this.#only,
            count: (type) => {
              const count = (this.#counts.get(type) ?? 0) + 1;
              this.#counts.set(type, count);
              return count;
            },
          }),
        );
        break;
      case "answer":
        this.#step({
          kind: "answer",
          response: Number((words[0] ?? "").slice(1)),
          error: words.length > 1 ? words.slice(1).join(" ") : undefined,
        });
        break;
      case "wait":
        this.#pass(millisecondsOf(words[0] ?? ""));
        break;
      case "block":
      case "unblock":
        this.#isBlocked = verb === "block";
        this.#pull();
        break;
      default:
        throw new Error(`unknown step: ${verb}`);
    }
  }
}

/** The type of a per-type stream: the first one in the case. */
function typeInSteps({ steps }: Case, mode: Mode): string {
  for (const { text } of steps) {
    const [, word] = /^(?:subscribe|hold) (\S+)/.exec(text) ?? [];
    if (word !== undefined) return word === "TYPE" ? (mode.type ?? word) : word;
  }
  throw new Error("a case on a per-type stream subscribes to something");
}

/** `hold cluster a=1#7 b=2 v=3`; `hold cluster * …`: all of the type. */
function holdEvent([word = "", ...words]: readonly string[]): ClientStreamEvent {
  const version = words.find((one) => one.startsWith("v="))?.slice(2) ?? "";
  const resources = words
    .filter((one) => !one.startsWith("v=") && one !== "*")
    .map((one) => {
      const [name, said] = splitContent(one);
      const [content = "", own] = said.split("#");
      return receivedResource(sampleResource(word, name, content), own ?? content.split("~")[0] ?? "");
    });
  return { kind: "hold", type: typeOf(word), resources, version, isAll: words.includes("*") };
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
