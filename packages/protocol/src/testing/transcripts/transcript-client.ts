import { type ApiVersion, resourceTypes } from "@xdskit/api";
import {
  defaultStreamLimits,
  type Node,
  type Ordering,
  type PastSnapshots,
  type SnapshotLineage,
  type Stream,
  type StreamEffect,
  type StreamEvent,
  type StreamLimits,
  statusCode,
  type TtlPolicy,
  ttlPolicies,
  type UnknownTypes,
} from "../../index.js";
import { createCheckedStream } from "../checked-stream.js";
import { wordOf } from "../sample-resources.js";
import { describeSet, type SampleGroup, typeOf, watchedSnapshot } from "../sample-world.js";
import type { VersionLedger } from "../version-ledger.js";
import { decodeResponse, type SeenResponse } from "../wire.js";
import type { Detail, Mode } from "./transcript.js";
import type { TypeHistory } from "./transcript-request.js";

/** The parts that the clients of one case share. */
export interface Shared {
  readonly mode: Mode;
  readonly show: ReadonlySet<Detail>;
  /** The types that are supplied on demand. */
  readonly demand: readonly string[];
  /** The unknown types that streams get with the next snapshot. */
  readonly unknown: UnknownTypes;
  readonly ledger: VersionLedger;
  readonly groups: ReadonlyMap<string, SampleGroup>;
  /** By group, the lineage of its snapshots; empty if streams are given each snapshot. */
  readonly lineages: ReadonlyMap<string, SnapshotLineage>;
  /** By group, its snapshots until now, newest first. */
  readonly pasts: ReadonlyMap<string, PastSnapshots>;
  /** Milliseconds. */
  readonly now: () => number;
  /** Changes go out make before break. */
  readonly ordered: boolean;
  /** The order of the node's streams then. */
  readonly orderOf: (node: Node) => Ordering;
  /** Takes one line of the output. */
  readonly say: (line: string) => void;
  /** `V1`, `V2` … for the versions of a type. */
  readonly labelOf: (type: string, version: string) => string;
}

const statusNames = new Map<number, string>(
  Object.entries(statusCode).map(([name, code]) => [code, name.replace(/[A-Z]/g, "_$&").toUpperCase()]),
);
/** More responses in a row than any case has; a machine that never ends must not end the test run. */
const tooMany = 50;
/** The part of its `error_detail` that a client can make the server keep. */
const longestMessage = 8192;

/** A stream of a transcript: the machine, its client's memory, and the lines about both. */
export class TranscriptClient {
  readonly name: string;
  readonly group: string;
  /** The type of a per-type stream. */
  readonly only: string | undefined;
  blocked = false;
  /** It comes back, and is told nothing before its resources are put together (`resume`). */
  #comesBack: boolean;
  /** A request was sent: the next one needs no node. */
  requested = false;
  readonly #case: Shared;
  #order: Ordering | undefined;
  readonly #stream: Stream;
  readonly #histories = new Map<string, TypeHistory>();
  /** The API version in which a type was last asked for. */
  readonly #asked = new Map<string, ApiVersion>();
  readonly #ttl: TtlPolicy;
  /** The version that was sent last, by type and name: delta heartbeats must repeat it. */
  readonly #beatVersions = new Map<string, string>();
  readonly #nonces = new Set<string>();
  /** The group that the last response was made from: perhaps not the newest. */
  #from: SampleGroup | undefined;
  #identified = false;
  #closed = false;

  /** `words` are those of an `open` line; `first` is the type of the first request. */
  constructor(name: string, words: readonly string[], first: string | undefined, shared: Shared) {
    const settings = new Map(words.map((word) => word.split("=", 2) as [string, string | undefined]));
    const { mode } = shared;
    this.name = name;
    this.group = words.find((word) => word.startsWith("@"))?.slice(1) ?? "all";
    this.#comesBack = words.includes("back");
    this.only = mode.ads ? undefined : (settings.get("only") ?? first);
    if (!mode.ads && this.only === undefined) throw new Error("a per-type stream needs a type: open NAME only=TYPE");
    this.#case = shared;
    this.#ttl = ttlPolicies.find((policy) => policy === settings.get("ttl")) ?? "advertised";
    const limits: { -readonly [K in keyof StreamLimits]: StreamLimits[K] } = { ...defaultStreamLimits };
    for (const key of ["namesPerRequest", "namesPerStream", "typesPerStream"] as const) {
      if (settings.has(key)) limits[key] = Number(settings.get(key));
    }
    const defaultId = settings.get("defaultNode");
    this.#stream = createCheckedStream({
      variant: mode.variant,
      api: mode.api,
      types: resourceTypes,
      only: this.only === undefined ? undefined : typeOf(this.only),
      limits,
      defaultNode: defaultId === undefined ? undefined : nodeWith(defaultId),
      authorities: settings.has("authorities") ? new Set(settings.get("authorities")?.split(",")) : undefined,
      resourceErrors: settings.get("errors") === "always" ? "always" : "advertised",
      localityTypes: new Set(
        settings
          .get("locality")
          ?.split(",")
          .map((type) => typeOf(type).typeUrl),
      ),
      onDemand: new Set(shared.demand.map((type) => typeOf(type).typeUrl)),
    });
  }

  history(type: string): TypeHistory {
    const found = this.#histories.get(type) ?? { responses: [], acked: "" };
    this.#histories.set(type, found);
    return found;
  }

  /** The node's new configuration. A stream that has not sent its node gets it later. */
  snapshot(group: SampleGroup): void {
    if (!this.#identified || this.#comesBack) return;
    const lineage = this.#case.lineages.get(this.group);
    if (lineage !== undefined && this.#stream.isUpToDateWith(group.snapshot)) return;
    // Only streams that were given the very same snapshot can go along with it.
    if (lineage !== undefined) this.#from = group;
    this.#step({
      kind: "snapshot",
      snapshot: lineage === undefined ? watchedSnapshot(group, (looked) => (this.#from = looked)) : group.snapshot,
      lineage,
      ttl: this.#ttl,
      ordering: this.#order,
      unknown: this.#case.unknown,
    });
  }

  /** It has asked for all that it had: it is given what it has, and nothing newer yet. */
  resume(): void {
    const past = this.#case.pasts.get(this.group);
    if (past === undefined) throw new Error("a client comes back to no configuration");
    const { snapshot } = this.#stream.claimed(past);
    this.#comesBack = false;
    this.#step({ kind: "snapshot", snapshot, ttl: this.#ttl, ordering: this.#order });
  }

  /** The stream is gone. */
  end(): void {
    this.#closed = true;
    this.#stream.end();
  }

  get deadline(): number | undefined {
    return this.#stream.deadline();
  }

  pass(): void {
    this.#step({ kind: "time" });
  }

  /** Time passed: resources that need a heartbeat at this interval, in milliseconds, must get one. */
  beat(interval: number): void {
    this.#step({ kind: "heartbeat", interval });
  }

  /** The owner decided that these do not exist. */
  absent(type: string, names: readonly string[]): void {
    const errors = names.flatMap((word) => {
      const [name = "", code] = word.split("!");
      return code === undefined ? [] : [{ name, code: Number(code), message: "who supplies it said so" }];
    });
    this.#step({ kind: "absent", type: typeOf(type), names: names.map((word) => word.split("!")[0] ?? ""), errors });
  }

  request(bytes: Uint8Array): void {
    this.#step({ kind: "request", bytes });
  }

  /** Notes a request for a type: only such types may be answered. */
  asks(type: string, api: ApiVersion): void {
    this.requested = true;
    this.#asked.set(type, api);
  }

  #say(sign: "<" | "!", text: string): void {
    this.#case.say(`${this.name === "main" ? "" : this.name}${sign} ${text}`);
  }

  #step(event: StreamEvent): void {
    const wasClosed = this.#closed;
    const effects = this.#stream.step(event, this.#case.now());
    if (wasClosed && effects.length > 0) throw new Error(`a closed stream goes on: ${JSON.stringify(effects)}`);
    for (const effect of effects) this.#note(effect);
    const group = this.#case.groups.get(this.group);
    if (event.kind === "request" && effects.some(({ kind }) => kind === "identified") && group !== undefined) {
      if (!this.#closed) this.snapshot(group);
    }
  }

  #note(effect: StreamEffect): void {
    const { show } = this.#case;
    switch (effect.kind) {
      case "identified":
        if (this.#identified) throw new Error("a stream was identified twice");
        this.#identified = true;
        if (this.#case.ordered) this.#order = this.#case.orderOf(effect.node);
        if (show.has("identified")) this.#say("!", `identified ${effect.node.id}`);
        break;
      case "subscribed": {
        const { type, wildcard, names } = effect;
        if (show.has("subscribed")) this.#say("!", `subscribed ${word(type)} ${wildcard ? "* " : ""}${names}`);
        break;
      }
      case "demanded": {
        const { type, added, again, dropped } = effect;
        const say = (sign: string, names: readonly string[]) => [...names].sort().map((name) => `${sign}${name}`);
        const names = [...say("+", added), ...say("=", again), ...say("-", dropped)];
        if (show.has("demanded")) this.#say("!", `demanded ${word(type)} ${names.join(" ")}`);
        break;
      }
      case "close":
        if (effect.message.length < 10) throw new Error(`a status message that helps nobody: ${effect.message}`);
        this.#closed = true;
        this.#say("!", `close ${statusNames.get(effect.code)}`);
        break;
      case "wait-ended":
        this.#say("!", `wait-ended ${word(effect.type)}`);
        break;
      case "foreign":
        this.#say("!", `foreign ${word(effect.type)} ${effect.authority}`);
        break;
      case "ttl-untold":
        if (show.has("untold")) this.#say("!", `untold ${word(effect.type)} ${effect.resources}`);
        break;
      case "stale":
        this.#say("!", `stale ${word(effect.type)}`);
        break;
      case "acknowledged":
        this.#say("!", `ack ${this.#answered(effect)}`);
        break;
      case "rejected":
        this.#say("!", `nack ${this.#answered(effect)} ${effect.code} ${shorten(effect.message)}`.trimEnd());
    }
  }

  /** The answered response: its type, and its number within the type. */
  #answered(effect: StreamEffect & { kind: "acknowledged" | "rejected" }): string {
    const { responses } = this.history(word(effect.type));
    const index = responses.findIndex(({ nonce }) => nonce === effect.nonce);
    const version = responses[index]?.version;
    if (version === undefined) throw new Error(`${effect.kind} an unknown nonce: ${effect.nonce}`);
    if (version !== effect.version) throw new Error(`${effect.kind} ${effect.version}, but it was ${version}`);
    return `${word(effect.type)} #${index + 1}`;
  }

  /** Takes the machine's responses. */
  pull(atMost: number): void {
    for (let count = 0; count < atMost; count++) {
      const outgoing = this.#stream.next(this.#case.now());
      if (outgoing === undefined) return;
      if (this.#closed) throw new Error("a response on a closed stream");
      if (count === tooMany) throw new Error("responses without end");
      this.#receive(decodeResponse(this.#case.mode.variant, outgoing));
    }
  }

  #receive(seen: SeenResponse): void {
    const { mode, ledger } = this.#case;
    const known = wordOf(seen.typeUrl);
    const type = known?.word ?? seen.typeUrl;
    const asked = this.#asked.get(type) ?? (this.only === type ? mode.api : undefined);
    if (asked === undefined) throw new Error(`a response of a type that was not asked for: ${seen.typeUrl}`);
    if (known !== undefined && known.api !== asked)
      throw new Error(`asked in ${asked}, answered in ${known.api} (${type})`);
    if (this.#nonces.has(seen.nonce)) throw new Error(`nonce ${seen.nonce} came twice (rule 3)`);
    this.#nonces.add(seen.nonce);
    // Between two configurations a client may have a mixture.
    if (this.#order === undefined) ledger.note(`all of ${type}`, describeSet(this.#from, type), seen.version);
    for (const { name, content, version, ttl } of seen.resources) {
      const kept = this.#from?.contents.get(type)?.get(name)?.split("~")[1];
      if (ttl !== undefined && ttl !== kept) throw new Error(`${name} has the TTL ${kept}, and ${ttl} was sent`);
      // It is a part of the version, told or not.
      const whole = kept === undefined ? content : `${content}~${kept}`;
      if (version !== undefined && content !== undefined) ledger.note(`${type} ${name}`, whole ?? "", version);
      if (content === undefined && ttl !== undefined)
        checkHeartbeat(this.#beatVersions.get(`${type} ${name}`), name, version);
      else if (version !== undefined) this.#beatVersions.set(`${type} ${name}`, version);
    }
    this.history(type).responses.push(seen);
    const prefix = known === undefined || known.api === mode.api ? "" : `${known.api}:`;
    const version = this.#case.show.has("versions") ? ` v=${this.#case.labelOf(type, seen.version)}` : "";
    this.#say("<", `${prefix}${type} ${describeContent(seen)}${version}`);
  }
}

/** Rule 131: the version that this client was last sent, if any: another stream may have sent it. */
function checkHeartbeat(sent: string | undefined, name: string, version: string | undefined): void {
  if (sent !== undefined && sent !== version)
    throw new Error(`a heartbeat for ${name} at ${version}, and it has ${sent}`);
}

function describeContent({ resources, removed, errors, isHeartbeat }: SeenResponse): string {
  const there = resources.map(({ name, content, aliases, ttl }) => {
    const time = ttl === undefined ? "" : `~${ttl}`;
    if (content !== undefined) return `${[`${name}=${content}`, ...aliases].join("@")}${time}`;
    if (ttl !== undefined) return `${name}${time}`;
    return [`${name}=∅`, ...aliases.filter((alias) => alias !== name)].join("@");
  });
  return (
    [
      ...(isHeartbeat ? ["♥"] : []),
      ...there.sort(),
      ...removed.map((name) => `-${name}`).sort(),
      ...[...errors].sort(),
    ].join(" ") || "[]"
  );
}

function word(type: { readonly typeUrl: string }): string {
  return wordOf(type.typeUrl)?.word ?? type.typeUrl;
}

function shorten(message: string): string {
  if (message.length > longestMessage) throw new Error(`a message of ${message.length} characters was kept`);
  return message.length > 40 ? "(long)" : message;
}

function nodeWith(id: string): Node {
  const locality = { region: "", zone: "", subZone: "" };
  return { id, cluster: "", locality, metadata: {}, userAgentName: "", userAgentVersion: "", clientFeatures: [] };
}
