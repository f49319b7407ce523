import { type ApiVersion, resourceTypes } from "@xdskit/api";
import {
  createStream,
  defaultStreamLimits,
  type Stream,
  type StreamEvent,
  type StreamLimits,
  statusCode,
} from "../index.js";
import { sampleResource, wordOf } from "./sample-resources.js";
import { describeSet, type Edit, edit, type SampleGroup, typeOf } from "./sample-world.js";
import type { Case, Mode, Step } from "./transcript.js";
import { readRequest, type TypeHistory } from "./transcript-request.js";
import { createVersionLedger } from "./version-ledger.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "./wire.js";

/** A step and the lines that went out because of it; undefined where no stream was open, so that nothing could. */
export interface Ran {
  readonly step: Step;
  readonly got: readonly string[] | undefined;
}

/** A stream of a transcript, its client's memory included. */
interface Client {
  readonly name: string;
  readonly group: string;
  readonly stream: Stream;
  readonly only: string | undefined;
  readonly histories: Map<string, TypeHistory>;
  /** The API version in which a type was last asked for. */
  readonly asked: Map<string, ApiVersion>;
  readonly nonces: Set<string>;
  identified: boolean;
  requested: boolean;
  blocked: boolean;
  closed: boolean;
}

const statusNames = new Map<number, string>(
  Object.entries(statusCode).map(([name, code]) => [code, name.replace(/[A-Z]/g, "_$&").toUpperCase()]),
);
/** More responses than any case has; a machine that never ends must not end the test run. */
const tooMany = 50;

/** Runs a case in one of its modes. Throws where a response breaks what holds for every response. */
export function runCase(one: Case, mode: Mode): readonly Ran[] {
  const groups = new Map<string, SampleGroup>();
  const clients = new Map<string, Client>();
  const ledger = createVersionLedger();
  const versionLabels = new Map<string, string>();
  let out: string[] = [];

  function open(name: string, words: readonly string[], first: string | undefined): Client {
    const settings = new Map(words.map((word) => word.split("=", 2) as [string, string | undefined]));
    const only = mode.ads ? undefined : (settings.get("only") ?? first);
    if (!mode.ads && only === undefined) throw new Error("a per-type stream needs a type: open NAME only=TYPE");
    const limits: { -readonly [K in keyof StreamLimits]: StreamLimits[K] } = { ...defaultStreamLimits };
    for (const key of ["namesPerRequest", "namesPerStream", "typesPerStream"] as const) {
      if (settings.has(key)) limits[key] = Number(settings.get(key));
    }
    const defaultId = settings.get("defaultNode");
    const stream = createStream({
      variant: mode.variant,
      api: mode.api,
      types: resourceTypes,
      only: only === undefined ? undefined : typeOf(only),
      limits,
      defaultNode:
        defaultId === undefined
          ? undefined
          : {
              id: defaultId,
              cluster: "",
              locality: { region: "", zone: "", subZone: "" },
              metadata: {},
              userAgentName: "",
              userAgentVersion: "",
              clientFeatures: [],
            },
    });
    const group = words.find((word) => word.startsWith("@"))?.slice(1) ?? "all";
    const client: Client = {
      ...{ name, group, stream, only, histories: new Map(), asked: new Map(), nonces: new Set() },
      ...{ identified: false, requested: false, blocked: false, closed: false },
    };
    clients.set(name, client);
    return client;
  }

  const find = (name: string) => {
    const client = clients.get(name);
    if (client === undefined) throw new Error(`no stream ${name} is open`);
    return client;
  };

  const history = (client: Client, type: string): TypeHistory => {
    const found = client.histories.get(type) ?? { responses: [], acked: "" };
    client.histories.set(type, found);
    return found;
  };

  const say = (client: Client, sign: "<" | "!", text: string) =>
    out.push(`${client.name === "main" ? "" : client.name}${sign} ${text}`);

  function step(client: Client, event: StreamEvent): void {
    const wasClosed = client.closed;
    const effects = client.stream.step(event);
    if (wasClosed && effects.length > 0) throw new Error(`a closed stream goes on: ${JSON.stringify(effects)}`);
    let snapshot: StreamEvent | undefined;
    for (const effect of effects) {
      switch (effect.kind) {
        case "identified": {
          if (client.identified) throw new Error("a stream was identified twice");
          client.identified = true;
          if (one.show.has("identified")) say(client, "!", `identified ${effect.node.id}`);
          const group = groups.get(client.group);
          if (group !== undefined) snapshot = { kind: "snapshot", snapshot: group.snapshot };
          break;
        }
        case "close":
          if (effect.message.length < 10) throw new Error(`a status message that helps nobody: ${effect.message}`);
          client.closed = true;
          say(client, "!", `close ${statusNames.get(effect.code)}`);
          break;
        case "subscribed":
          if (!one.show.has("subscribed")) break;
          say(client, "!", `subscribed ${word(effect.type)} ${effect.wildcard ? "* " : ""}${effect.names}`);
          break;
        case "stale":
          say(client, "!", `stale ${word(effect.type)}`);
          break;
        case "acknowledged":
        case "rejected": {
          const { responses } = history(client, word(effect.type));
          const index = responses.findIndex(({ nonce }) => nonce === effect.nonce);
          if (index < 0) throw new Error(`${effect.kind} an unknown nonce: ${effect.nonce}`);
          const { version } = responses[index]!;
          if (version !== effect.version) throw new Error(`${effect.kind} ${effect.version}, but it was ${version}`);
          const detail = effect.kind === "acknowledged" ? "" : ` ${effect.code} ${shorten(effect.message)}`;
          say(
            client,
            "!",
            `${effect.kind === "acknowledged" ? "ack" : "nack"} ${word(effect.type)} #${index + 1}${detail}`,
          );
        }
      }
    }
    if (snapshot !== undefined && !client.closed) step(client, snapshot);
  }

  function pull(client: Client, atMost: number): void {
    for (let count = 0; count < atMost; count++) {
      const outgoing = client.stream.next();
      if (outgoing === undefined) return;
      if (client.closed) throw new Error("a response on a closed stream");
      if (count === tooMany) throw new Error("responses without end");
      receive(client, decodeResponse(mode.variant, outgoing));
    }
  }

  function receive(client: Client, seen: SeenResponse): void {
    const known = wordOf(seen.typeUrl);
    const type = known?.word ?? seen.typeUrl;
    const asked = client.asked.get(type) ?? (client.only === type ? mode.api : undefined);
    if (asked === undefined) throw new Error(`a response of a type that was not asked for: ${seen.typeUrl}`);
    if (known !== undefined && known.api !== asked)
      throw new Error(`asked in ${asked}, answered in ${known.api} (${type})`);
    if (client.nonces.has(seen.nonce)) throw new Error(`nonce ${seen.nonce} came twice (rule 3)`);
    client.nonces.add(seen.nonce);
    ledger.note(`all of ${type}`, describeSet(groups.get(client.group), type), seen.version);
    for (const { name, content, version } of seen.resources) {
      if (version !== undefined && content !== undefined) ledger.note(`${type} ${name}`, content, version);
    }
    history(client, type).responses.push(seen);
    const prefix = known === undefined || known.api === mode.api ? "" : `${known.api}:`;
    const resources = seen.resources.map(({ name, content, aliases }) => {
      if (content !== undefined) return [`${name}=${content}`, ...aliases].join("@");
      return [`${name}=∅`, ...aliases.filter((alias) => alias !== name)].join("@");
    });
    const parts = [...resources.sort(), ...seen.removed.map((name) => `-${name}`).sort()];
    if (parts.length === 0) parts.push("[]");
    if (one.show.has("versions")) {
      const key = `${type} ${seen.version}`;
      const count = [...versionLabels.keys()].filter((other) => other.startsWith(`${type} `)).length;
      if (!versionLabels.has(key)) versionLabels.set(key, `V${count + 1}`);
      parts.push(`v=${versionLabels.get(key)}`);
    }
    say(client, "<", `${prefix}${type} ${parts.join(" ")}`);
  }

  function change(words: string, remove: boolean): void {
    const [, groupName = "all", rest = ""] = /^(?:@([a-z]+) )?(.*)$/.exec(words) ?? [];
    const edits: Edit[] = [];
    for (const part of rest === "nothing" ? [] : rest.split(";")) {
      const tokens = part.trim().split(/\s+/);
      const removing = tokens[0] === "delete" ? tokens.shift() === "delete" : remove;
      const [type = "", ...items] = tokens;
      for (const item of items) {
        const [name = "", content = ""] = item.split(/=(.*)/);
        edits.push({ type, name, content: removing ? undefined : content });
      }
    }
    const group = edit(groups.get(groupName), edits);
    groups.set(groupName, group);
    for (const client of clients.values()) {
      if (client.group === groupName && client.identified) step(client, { kind: "snapshot", snapshot: group.snapshot });
    }
  }

  function request(name: string, text: string): void {
    const bytes = /^bytes((?: [0-9a-f]{2})*)$/.exec(text);
    const subject = text.split(/\s+/)[0] ?? "";
    const client =
      clients.get(name) ??
      open(name, [], bytes === null && subject !== "notype" ? subject.replace(/^v[23]:/, "") : undefined);
    if (bytes !== null) {
      step(client, {
        kind: "request",
        bytes: Uint8Array.from(Buffer.from((bytes[1] ?? "").replaceAll(" ", ""), "hex")),
      });
      return;
    }
    const { type, api, request } = readRequest(text, {
      variant: mode.variant,
      api: mode.api,
      firstNode: client.requested ? undefined : { id: "test" },
      history: (type, stream) => history(stream === undefined ? client : find(stream), type),
      versionOf: (type, name, content) =>
        ledger.versionOf(`${type} ${name}`, content) ?? sampleResource(type, name, content).version,
      only: client.only,
    });
    client.requested = true;
    client.asked.set(type, api);
    step(client, { kind: "request", bytes: encodeRequest(mode.variant, request) });
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
        return;
      case "open":
        open(words[0] ?? "main", words.slice(1), words.find((word) => word.startsWith("only="))?.slice(5));
        return;
      case "block":
      case "unblock":
        find(words[0] ?? "main").blocked = verb === "block";
        return;
      case "take":
        pull(find(words[1] ?? "main"), Number(words[0]));
        return;
      default:
        throw new Error(`unknown step: ${verb}`);
    }
  }

  return one.steps.map((current) => {
    out = [];
    try {
      run(mode.type === undefined ? current.text : current.text.replaceAll("TYPE", mode.type));
      for (const client of clients.values()) if (!client.blocked) pull(client, Number.POSITIVE_INFINITY);
    } catch (error) {
      throw new Error(`${one.file}:${current.number}: ${current.text}\n  ${(error as Error).message}`, {
        cause: error,
      });
    }
    const silent = !out.some((line) => /^[a-z]*</.test(line));
    const quiet = clients.size === 0 || /^(?:open|block)\b/.test(current.text);
    return { step: current, got: quiet && out.length === 0 ? undefined : silent ? [...out, "∅"] : out };
  });
}

function word(type: { readonly typeUrl: string }): string {
  return wordOf(type.typeUrl)?.word ?? type.typeUrl;
}

/** What a client may make us keep of its `error_detail`. */
const longestMessage = 8192;

function shorten(message: string): string {
  if (message.length > longestMessage) throw new Error(`a message of ${message.length} characters was kept`);
  return message.length > 40 ? "(long)" : message;
}
