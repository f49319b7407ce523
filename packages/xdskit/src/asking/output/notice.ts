import type { ResourceType } from "@xdskit/api";
import { connectError } from "../../output/messages/connect-error.js";
import type { WatchEvent } from "./watch-event.js";

/** An event in words, on one line. */
export function noticeOf(event: WatchEvent): string {
  switch (event.kind) {
    case "connected":
      return `connected to ${event.server}${about(event.type)}`;
    case "disconnected":
      return `the stream to ${event.server}${about(event.type)} ended${event.error === undefined ? "" : `: ${event.error}`}`;
    case "upsert":
      return `${event.resource.type.name} ${JSON.stringify(event.resource.name)}`;
    case "delete":
      return `${event.type.name} ${JSON.stringify(event.name)} is gone${event.ttl ? ": its TTL is over" : ""}`;
    case "not_found":
      return `${event.type.name} ${JSON.stringify(event.name)} does not exist${why(event)}`;
    case "error":
      return errorNotice(event);
    case "switched":
      return `${event.to} answers instead of ${event.from}`;
  }
}

function about(type: ResourceType | undefined): string {
  return type === undefined ? "" : ` (${type.name})`;
}

function why({ reason, message }: Extract<WatchEvent, { kind: "not_found" }>): string {
  if (message !== undefined && message !== "") return `: ${message}`;
  return reason === "timer" ? ": the server did not answer in time" : "";
}

function errorNotice({
  code,
  message: given,
  server,
  type,
  name,
  nack,
}: Extract<WatchEvent, { kind: "error" }>): string {
  const message = connectError(given);
  // Some errors already name the resource and the server.
  const where = server === undefined || message.startsWith(`${server}: `) ? "" : `${server}: `;
  const what = type === undefined ? "" : `${type.name}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`;
  // Errors of xdskit have a code.
  const text = /\[XDSKIT_\w+\]/.test(message) ? message : `${message} [${code}]`;
  const hint = code === "UNIMPLEMENTED" ? "; it may lack the service or the variant: try --variant sotw, or --ads" : "";
  if (nack) return `${where}${what === "" ? "" : `${what} `}rejected: ${text}`;
  if (where === "" && server !== undefined) return `${text}${hint}`;
  return `${where}${what === "" || message.startsWith(`${what}: `) ? "" : `${what}: `}${text}${hint}`;
}
