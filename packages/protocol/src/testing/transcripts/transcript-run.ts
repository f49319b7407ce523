import type { Node } from "../../model/node.js";
import { Ordering } from "../../server/ordering/ordering.js";
import { orderingTimesFor } from "../../server/ordering/ordering-times.js";
import { SnapshotLineage } from "../../server/ordering/snapshot-lineage.js";
import type { UnknownTypes } from "../../server/requests/unknown-types.js";
import { millisecondsOf, sampleResource } from "../sample-resources.js";
import { type Edit, edit, type SampleGroup, typeOf } from "../sample-world.js";
import { createVersionLedger } from "../version-ledger.js";
import { encodeRequest } from "../wire.js";
import type { Case, Mode, Step } from "./transcript.js";
import { TranscriptClient } from "./transcript-client.js";
import { readRequest, splitContent } from "./transcript-request.js";

/** A step and the lines that it caused; undefined if no stream was open. */
export interface Ran {
  readonly step: Step;
  readonly got: readonly string[] | undefined;
}

const mostStops = 50;

/** Runs a case in one of its modes. Throws where a response breaks what holds for every response. */
export function runCase(one: Case, mode: Mode): readonly Ran[] {
  const groups = new Map<string, SampleGroup>();
  const lineages = new Map<string, SnapshotLineage>();
  const clients = new Map<string, TranscriptClient>();
  const ledger = createVersionLedger();
  const labels = new Map<string, string[]>();
  let out: string[] = [];

  const labelOf = (type: string, version: string): string => {
    const versions = labels.get(type) ?? [];
    labels.set(type, versions);
    if (!versions.includes(version)) versions.push(version);
    return `V${versions.indexOf(version) + 1}`;
  };
  const inMode = (text: string) => (mode.type === undefined ? text : text.replaceAll("TYPE", mode.type));
  const demand = one.demand.map(inMode);
  let now = 0;
  let order: Ordering | undefined;
  const shared = {
    mode,
    unknown: undefined as UnknownTypes,
    show: one.show,
    demand,
    ledger,
    groups,
    lineages,
    labelOf,
    say: (line: string) => out.push(line),
    now: () => now,
    ordered: one.ordered,
    orderOf(node: Node) {
      // A stream over all types has an order of its own.
      if (mode.ads || order === undefined) order = new Ordering(orderingTimesFor(node));
      return order;
    },
  };

  const open = (name: string, words: readonly string[], first: string | undefined): TranscriptClient => {
    const client = new TranscriptClient(name, words, first, shared);
    clients.set(name, client);
    return client;
  };

  const find = (name: string): TranscriptClient => {
    const client = clients.get(name);
    if (client === undefined) throw new Error(`no stream ${name} is open`);
    return client;
  };

  function change(words: string, deletes: boolean): void {
    const [, groupName = "all", rest = ""] = /^(?:@([a-z]+) )?(.*)$/.exec(words) ?? [];
    const group = edit(groups.get(groupName), rest === "nothing" ? [] : readEdits(rest, deletes));
    groups.set(groupName, group);
    if (one.lineage) {
      const lineage = lineages.get(groupName) ?? new SnapshotLineage();
      lineages.set(groupName, lineage);
      lineage.goOn(group.snapshot, true);
    }
    for (const client of clients.values()) if (client.group === groupName) client.snapshot(group);
  }

  function request(name: string, text: string): void {
    const [subject = "", ...rest] = text.split(/\s+/);
    if (subject === "bytes") {
      find(name).request(Uint8Array.from(Buffer.from(rest.join(""), "hex")));
      return;
    }
    const first = subject === "notype" ? undefined : subject.replace(/^v[23]:/, "");
    const client = clients.get(name) ?? open(name, [], first);
    const { type, api, request } = readRequest(text, {
      variant: mode.variant,
      api: mode.api,
      firstNode: client.requested ? undefined : { id: "test" },
      history: (type, stream) => (stream === undefined ? client : find(stream)).history(type),
      versionOf: (type, name, content) =>
        ledger.versionOf(`${type} ${name}`, content) ?? sampleResource(type, name, content).version,
      only: client.only,
    });
    client.asks(type, api);
    client.request(encodeRequest(mode.variant, request));
  }

  /** Time goes by, with a stop wherever a stream wants to hear of it. */
  function pass(milliseconds: number): void {
    const end = now + milliseconds;
    for (let stops = 0; stops < mostStops && now < end; stops++) {
      now = Math.min(end, ...[...clients.values()].map((client) => Math.max(now + 1, client.deadline ?? end)));
      for (const client of clients.values()) client.pass();
      pull();
    }
    if (now < end) throw new Error(`a stream wanted to hear of the time ${mostStops} times in ${milliseconds} ms`);
  }

  function pull(): void {
    for (const client of clients.values()) if (!client.blocked) client.pull(Number.POSITIVE_INFINITY);
  }

  function run(text: string): void {
    const [, name = "", sign, rest = ""] = /^([a-z]*)(>) (.*)$/.exec(text) ?? [];
    if (sign !== undefined) {
      request(name === "" ? "main" : name, rest);
      return;
    }
    const [verb = "", ...words] = text.split(/\s+/);
    switch (verb) {
      case "set":
      case "delete":
        change(words.join(" "), verb === "delete");
        break;
      case "absent":
        for (const client of clients.values()) client.absent(words[0] ?? "", words.slice(1));
        break;
      case "unknown":
        shared.unknown = words.length === 0 ? undefined : new Set(words.map((type) => typeOf(type).typeUrl));
        for (const client of clients.values()) {
          const group = groups.get(client.group);
          if (group !== undefined) client.snapshot(group);
        }
        break;
      case "open":
        open(words[0] ?? "main", words.slice(1), undefined);
        break;
      case "block":
      case "unblock":
        find(words[0] ?? "main").blocked = verb === "block";
        break;
      case "wait":
        pass(millisecondsOf(words[0] ?? ""));
        break;
      case "beat":
        for (const client of clients.values()) client.beat(millisecondsOf(words[0] ?? ""));
        break;
      case "take":
        find(words[1] ?? "main").pull(Number(words[0]));
        break;
      default:
        throw new Error(`unknown step: ${verb}`);
    }
  }

  return one.steps.map((step) => {
    out = [];
    try {
      run(inMode(step.text));
      pull();
      // An acknowledgement on one stream of a node may let another stream go on.
      if (one.ordered) pull();
    } catch (error) {
      throw new Error(`${one.file}:${step.number}: ${step.text}\n  ${(error as Error).message}`, { cause: error });
    }
    const silent = !out.some((line) => /^[a-z]*</.test(line));
    const quiet = clients.size === 0 || /^(?:open|block)\b/.test(step.text);
    return { step, got: quiet && out.length === 0 ? undefined : silent ? [...out, "∅"] : out };
  });
}

/** Reads `cluster a=1 b=1; endpoint a=1; delete route x`. */
function readEdits(text: string, deletes: boolean): readonly Edit[] {
  return text.split(";").flatMap((part) => {
    const [first = "", ...rest] = part.trim().split(/\s+/);
    const [type = "", ...items] = first === "delete" ? rest : [first, ...rest];
    return items.map((item) => {
      if (deletes || first === "delete") return { type, name: item, content: undefined };
      const [name, content] = splitContent(item);
      return { type, name, content };
    });
  });
}
