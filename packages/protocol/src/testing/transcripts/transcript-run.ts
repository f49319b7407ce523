import type { Node } from "../../model/basics/node.js";
import { Ordering } from "../../server/ordering/ordering.js";
import { orderingTimesFor } from "../../server/ordering/ordering-times.js";
import type { PastSnapshots } from "../../server/ordering/past-listeners.js";
import { SnapshotLineage } from "../../server/ordering/snapshot-lineage.js";
import type { UnknownTypes } from "../../server/requests/unknown-types.js";
import { millisecondsOf, sampleResource } from "../sample-resources.js";
import { type Edit, edit, type SampleGroup, typeOf } from "../sample-world.js";
import { createVersionLedger } from "../version-ledger.js";
import { encodeRequest } from "../wire.js";
import type { Case, Mode, Step } from "./transcript.js";
import { type Shared, TranscriptClient } from "./transcript-client.js";
import { readRequest, splitContent } from "./transcript-request.js";

/** A step and the lines that it caused; undefined if no stream was open. */
export interface Ran {
  readonly step: Step;
  readonly got: readonly string[] | undefined;
}

const maxStops = 50;

/** Runs a case in one of its modes. Throws if a response breaks a rule for every response. */
export function runCase(one: Case, mode: Mode): readonly Ran[] {
  return new CaseRun(one, mode).play();
}

/** The configurations and streams of a case, and the output of the current step. */
class CaseRun {
  readonly #groups = new Map<string, SampleGroup>();
  readonly #lineages = new Map<string, SnapshotLineage>();
  readonly #pasts = new Map<string, PastSnapshots>();
  readonly #clients = new Map<string, TranscriptClient>();
  /** Streams that are gone: others may still name their versions. */
  readonly #ended = new Map<string, TranscriptClient>();
  readonly #ledger = createVersionLedger();
  readonly #labels = new Map<string, string[]>();
  #out: string[] = [];
  #now = 0;
  /** The order of per-type streams. */
  #order: Ordering | undefined;
  readonly #shared: Shared & { unknown: UnknownTypes };
  readonly #one: Case;
  readonly #mode: Mode;

  constructor(one: Case, mode: Mode) {
    this.#one = one;
    this.#mode = mode;
    const demand = one.demand.map((text) => this.#inMode(text));
    this.#shared = {
      mode,
      unknown: undefined,
      show: one.show,
      demand,
      ledger: this.#ledger,
      groups: this.#groups,
      lineages: this.#lineages,
      pasts: this.#pasts,
      labelOf: (type, version) => this.#labelOf(type, version),
      say: (line: string) => this.#out.push(line),
      now: () => this.#now,
      ordered: one.ordered,
      orderOf: (node) => this.#orderOf(node),
    };
  }

  play(): readonly Ran[] {
    return this.#one.steps.map((step) => {
      this.#out = [];
      try {
        this.#run(this.#inMode(step.text));
        this.#pull();
        // An acknowledgement on one stream of a node may let another stream go on.
        if (this.#one.ordered) this.#pull();
      } catch (error) {
        throw new Error(`${this.#one.file}:${step.number}: ${step.text}\n  ${(error as Error).message}`, {
          cause: error,
        });
      }
      const silent = !this.#out.some((line) => /^[a-z]*</.test(line));
      const quiet = this.#clients.size === 0 || /^(?:open|block)\b/.test(step.text);
      return { step, got: quiet && this.#out.length === 0 ? undefined : silent ? [...this.#out, "∅"] : this.#out };
    });
  }

  #orderOf(node: Node): Ordering {
    // An ADS stream has its own order.
    const past = this.#mode.ads ? undefined : () => this.#pasts.get("all") as PastSnapshots;
    if (this.#mode.ads || this.#order === undefined)
      this.#order = new Ordering(orderingTimesFor(node), undefined, past);
    return this.#order;
  }

  #labelOf(type: string, version: string): string {
    const versions = this.#labels.get(type) ?? [];
    this.#labels.set(type, versions);
    if (!versions.includes(version)) versions.push(version);
    return `V${versions.indexOf(version) + 1}`;
  }

  #inMode(text: string) {
    return this.#mode.type === undefined ? text : text.replaceAll("TYPE", this.#mode.type);
  }

  #open(name: string, words: readonly string[], first: string | undefined): TranscriptClient {
    const client = new TranscriptClient(name, words, first, this.#shared);
    this.#clients.set(name, client);
    return client;
  }

  #find(name: string): TranscriptClient {
    const client = this.#clients.get(name);
    if (client === undefined) throw new Error(`no stream ${name} is open`);
    return client;
  }

  #end(name: string): void {
    const client = this.#find(name);
    client.end();
    this.#ended.set(name, client);
    this.#clients.delete(name);
    // As the server does: an order lasts as long as one of its streams.
    if (this.#clients.size === 0) this.#order = undefined;
  }

  #change(words: string, deletes: boolean): void {
    const [, groupName = "all", rest = ""] = /^(?:@([a-z]+) )?(.*)$/.exec(words) ?? [];
    const group = edit(this.#groups.get(groupName), rest === "nothing" ? [] : readEdits(rest, deletes));
    this.#groups.set(groupName, group);
    this.#pasts.set(groupName, [group.snapshot, ...(this.#pasts.get(groupName) ?? [])]);
    if (this.#one.lineage) {
      const lineage = this.#lineages.get(groupName) ?? new SnapshotLineage();
      this.#lineages.set(groupName, lineage);
      lineage.goOn(group.snapshot, true);
    }
    for (const client of this.#clients.values()) if (client.group === groupName) client.snapshot(group);
  }

  #request(name: string, text: string): void {
    const [subject = "", ...rest] = text.split(/\s+/);
    if (subject === "bytes") {
      this.#find(name).request(Uint8Array.from(Buffer.from(rest.join(""), "hex")));
      return;
    }
    const first = subject === "notype" ? undefined : subject.replace(/^v[23]:/, "");
    const client = this.#clients.get(name) ?? this.#open(name, [], first);
    const { type, api, request } = readRequest(text, {
      variant: this.#mode.variant,
      api: this.#mode.api,
      firstNode: client.requested ? undefined : { id: "test" },
      history: (type, stream) =>
        (stream === undefined ? client : (this.#ended.get(stream) ?? this.#find(stream))).history(type),
      versionOf: (type, name, content) =>
        this.#ledger.versionOf(`${type} ${name}`, content) ?? sampleResource(type, name, content).version,
      only: client.only,
    });
    client.asks(type, api);
    client.request(encodeRequest(this.#mode.variant, request));
  }

  /** Time goes by, with a stop at each deadline of a stream. */
  #pass(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let stops = 0; stops < maxStops && this.#now < end; stops++) {
      this.#now = Math.min(
        end,
        ...[...this.#clients.values()].map((client) => Math.max(this.#now + 1, client.deadline ?? end)),
      );
      for (const client of this.#clients.values()) client.pass();
      this.#pull();
    }
    if (this.#now < end) throw new Error(`a stream wanted to hear of the time ${maxStops} times in ${milliseconds} ms`);
  }

  #pull(): void {
    for (const client of this.#clients.values()) if (!client.blocked) client.pull(Number.POSITIVE_INFINITY);
  }

  #run(text: string): void {
    const [, name = "", sign, rest = ""] = /^([a-z]*)(>) (.*)$/.exec(text) ?? [];
    if (sign !== undefined) {
      this.#request(name === "" ? "main" : name, rest);
      return;
    }
    const [verb = "", ...words] = text.split(/\s+/);
    switch (verb) {
      case "set":
      case "delete":
        this.#change(words.join(" "), verb === "delete");
        break;
      case "absent":
        for (const client of this.#clients.values()) client.absent(words[0] ?? "", words.slice(1));
        break;
      case "unknown":
        this.#shared.unknown = words.length === 0 ? undefined : new Set(words.map((type) => typeOf(type).typeUrl));
        for (const client of this.#clients.values()) {
          const group = this.#groups.get(client.group);
          if (group !== undefined) client.snapshot(group);
        }
        break;
      case "open":
        this.#open(words[0] ?? "main", words.slice(1), undefined);
        break;
      case "end":
        for (const name of words) this.#end(name);
        break;
      case "resume":
        for (const name of words) this.#find(name).resume();
        this.#pull();
        for (const name of words) {
          const client = this.#find(name);
          client.snapshot(this.#groups.get(client.group) as SampleGroup);
        }
        break;
      case "block":
      case "unblock":
        this.#find(words[0] ?? "main").blocked = verb === "block";
        break;
      case "wait":
        this.#pass(millisecondsOf(words[0] ?? ""));
        break;
      case "beat":
        for (const client of this.#clients.values()) client.beat(millisecondsOf(words[0] ?? ""));
        break;
      case "take":
        this.#find(words[1] ?? "main").pull(Number(words[0]));
        break;
      default:
        throw new Error(`unknown step: ${verb}`);
    }
  }
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
