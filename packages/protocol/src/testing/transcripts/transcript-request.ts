import type { ApiVersion } from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { urlOf } from "../sample-resources.js";
import { splitBraces } from "../variant-words.js";
import type { Request, RequestNode } from "../wire.js";

/** A client's memory of one type on one stream. */
export interface TypeHistory {
  /** Every response, oldest first: `#1` in a transcript is the first. */
  readonly responses: { readonly version: string; readonly nonce: string }[];
  /** The version that was acknowledged last. */
  acked: string;
}

/** The context of a line such as `> endpoint a b ack`. */
export interface RequestContext {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  /** For the first request of a stream. */
  readonly firstNode: RequestNode | undefined;
  /** The histories of a type on this stream, or on the named one. */
  readonly history: (type: string, stream?: string) => TypeHistory;
  /** The version that stood for a content: for `has a=1`. */
  readonly versionOf: (type: string, name: string, content: string) => string;
  /** The type of a per-type stream. */
  readonly only: string | undefined;
}

/** A request and the type that it is about, in a transcript's word. */
export interface ReadRequest {
  readonly type: string;
  readonly api: ApiVersion;
  readonly request: Request;
}

/** Reads the words behind `>` (listed in transcripts/README.md). */
export function readRequest(text: string, context: RequestContext): ReadRequest {
  const [subject = "", ...tokens] = text.split(/\s+/);
  const [type, api, typeUrl] = readSubject(subject, context);
  const { responses, acked } = context.history(type);
  const last = responses.at(-1);
  const names: string[] = [];
  const subscribe: string[] = [];
  const unsubscribe: string[] = [];
  const initialVersions: { [name: string]: string } = {};
  let version = "";
  let nonce = "";
  let error: Request["error"];
  let node: RequestNode | undefined = context.firstNode;
  const lastResponse = () => {
    if (last === undefined) throw new Error(`nothing of ${type} has been received yet that could be answered`);
    return last;
  };
  const reference = (value: string, pick: "version" | "nonce"): string => {
    const match = /^(?:([a-z]+):)?([a-z-]*)#(\d+)$/.exec(value);
    if (match === null) return value;
    const [, stream, other, index] = match;
    const found = context.history(other || type, stream).responses[Number(index) - 1];
    if (found === undefined) throw new Error(`there is no response ${value}`);
    return found[pick];
  };
  let inVersions = false;
  for (const token of tokens) {
    const [, key = "", value = ""] = /^([a-z]+)=(.*)$/.exec(token) ?? [];
    if (inVersions) {
      const [name, content] = splitContent(token);
      // Clients know versions by name, whichever variant they have.
      initialVersions[splitBraces(name)[0]] =
        content === "?" ? "another-server's" : context.versionOf(type, name, content);
    } else if (token === "has") inVersions = true;
    else if (token === "ack") {
      nonce = lastResponse().nonce;
      version = lastResponse().version;
      context.history(type).acked = version;
    } else if (token === "again" || token === "nack" || key === "nack") {
      nonce = last?.nonce ?? "";
      version = acked;
      if (token !== "again") error = errorOf(value);
    } else if (token === "no-node") node = undefined;
    else if (key === "v") version = reference(value, "version");
    else if (key === "n") nonce = reference(value, "nonce");
    else if (key === "node") node = { ...node, id: value };
    else if (key === "agent") {
      const [userAgentName = "", userAgentVersion = ""] = value.replaceAll("_", " ").split("/");
      node = { id: "test", ...node, userAgentName, userAgentVersion };
    } else if (key === "zone") node = { id: "test", ...node, locality: { zone: value } };
    else if (key === "features") node = { id: "test", ...node, clientFeatures: value.split(",") };
    else if (context.variant === "sotw") names.push(token);
    else if (token.startsWith("+")) subscribe.push(token.slice(1));
    else if (token.startsWith("-")) unsubscribe.push(token.slice(1));
    else throw new Error(`delta names are written +${token} or -${token}`);
  }
  const request = { typeUrl, node, nonce, error, names, version, subscribe, unsubscribe, initialVersions };
  return { type, api, request };
}

/** Takes `name=content` apart. A name of federation may hold a `=` itself. */
export function splitContent(text: string): readonly [name: string, content: string] {
  const [, name = text, content = ""] =
    (text.startsWith("xdstp:") ? /^(.*)=([^=/]*)$/ : /^([^={]*(?:\{[^}]*\})?)=(.*)$/).exec(text) ?? [];
  return [name, content];
}

/**
 * `none` is an `error_detail` without fields; otherwise the length of its message, or the message, with `_` for a
 * space.
 */
function errorOf(value: string): { readonly code: number; readonly message: string } {
  if (value === "none") return { code: 0, message: "" };
  if (/^\d+$/.test(value)) return { code: 3, message: "x".repeat(Number(value)) };
  return { code: 3, message: value === "" ? "bad" : value.replaceAll("_", " ") };
}

function readSubject(subject: string, context: RequestContext): readonly [type: string, api: ApiVersion, url: string] {
  if (subject === "notype") return [context.only ?? "notype", context.api, ""];
  if (subject.includes("/")) return [subject, context.api, subject];
  const [, prefix, word = ""] = /^(?:(v2|v3):)?(.*)$/.exec(subject) ?? [];
  const api = prefix === "v2" || prefix === "v3" ? prefix : context.api;
  return [word, api, urlOf(word, api)];
}
