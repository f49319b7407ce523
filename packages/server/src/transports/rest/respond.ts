import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getOrInsert, type ResourceTypes } from "@xdskit/api";
import { peerOf } from "@xdskit/grpc-server";
import type { PollConnection, PollHandler, PollRefusal } from "../../contracts/poll-transport.js";
import { type Evidence, evidenceFrom } from "../../identity/evidence.js";
import type { ServerLimits } from "../../settings/limits.js";
import { isFromBrowser } from "../from-browser.js";
import { BodyRoom } from "./body-room.js";
import { type Endpoint, restPaths } from "./paths.js";
import { readBody } from "./read-body.js";
import { readJson } from "./read-json.js";
import { writeAnswer, writeProblem } from "./write-answer.js";

/** The limits of a request over REST. */
export type RestLimits = Pick<ServerLimits, "requestBytes" | "namesPerRequest">;

/** Answers one HTTP request, from its head to its poll. */
export type Responder = (
  request: IncomingMessage,
  response: ServerResponse,
  handler: PollHandler,
  isUnix: boolean,
) => Promise<void>;

const methods = "OPTIONS, POST";
const fromBrowser =
  "the request comes from a web page (it has Origin or Sec-Fetch-Site), and pages get no configuration";
/** The number of bodies of the largest size that may be read at once. */
const bodiesAtOnce = 16;
/** Requests on one connection that may wait for the answers of those before them. No known client sends any. */
const pipelined = 4;
/**
 * So long before a client's certificate ends an answer closes its connection, because the next poll may come with
 * another certificate only over another connection. Longer than clients wait between polls.
 */
const outdatedMs = 2_000;

interface RestConnection extends PollConnection {
  open: boolean;
  underWay: number;
  /** Cancel what it still waits for. */
  readonly cancels: Set<() => void>;
  /** When the client's certificate ends, in milliseconds since 1970; undefined: it showed none. */
  readonly certificateEnds: number | undefined;
  /** What a request on it brings; the header `authorization` is each one's own. */
  evidence(authorization: string | undefined): Evidence;
}

/** Makes the responder for all servers of a transport. */
export function createResponder(types: ResourceTypes, limits: RestLimits): Responder {
  const paths = restPaths(types);
  const room = new BodyRoom(bodiesAtOnce * limits.requestBytes);
  const connections = new WeakMap<Socket, RestConnection>();

  function connectionOf(socket: Socket, isUnix: boolean): RestConnection {
    return getOrInsert(connections, socket, () => {
      const made = newConnection(socket, isUnix);
      socket.once("close", () => {
        made.open = false;
        for (const cancel of made.cancels) cancel();
      });
      return made;
    });
  }

  return async (request, response, handler, isUnix) => {
    const connection = connectionOf(request.socket, isUnix);
    const path = pathOf(request);
    const refuse = (refusal: PollRefusal, headers?: Readonly<Record<string, string>>) => {
      writeProblem(response, handler.refuse(refusal, { peer: connection.peer, path }), headers);
    };
    if (isFromBrowser(request.headers)) return refuse({ kind: "refused", status: 403, message: fromBrowser });
    const endpoint = paths.find(path);
    if (endpoint === undefined) return refuse({ kind: "refused", status: 404, message: paths.whyNot(path) });
    if (request.method === "OPTIONS") {
      response.writeHead(204, { allow: methods }).end();
      return;
    }
    if (request.method !== "POST") {
      const message = `a discovery request is a POST, not a ${request.method}`;
      return refuse({ kind: "refused", status: 405, message }, { allow: methods });
    }
    if (connection.underWay >= pipelined) {
      const message = `${connection.underWay} requests are under way on one connection, and none may have more`;
      return refuse({ kind: "refused", status: 429, message, retryAfterS: 1 });
    }
    connection.underWay += 1;
    response.once("close", () => {
      connection.underWay -= 1;
    });
    const body = await readBody(request, limits.requestBytes, room);
    if (body.kind === "gone") return;
    if (body.kind === "refused") return refuse(body);
    const json = readJson(body.bytes, limits);
    if (json.kind === "refused") return refuse(json);
    poll(endpoint, json.value, body.bytes.byteLength, connection, request, response, handler);
  };
}

/** Gives a request to the handler, and writes its answer. */
function poll(
  { api, type }: Endpoint,
  json: unknown,
  bytes: number,
  connection: RestConnection,
  request: IncomingMessage,
  response: ServerResponse,
  handler: PollHandler,
): void {
  if (response.destroyed || !connection.open) return;
  let end: (() => void) | undefined;
  const cancel = () => {
    connection.cancels.delete(cancel);
    end?.();
  };
  // Not only after the answer: "close" comes too when the client goes away. But the response to a pipelined request
  // has no socket yet, and hears of nothing: then the connection tells.
  response.once("close", cancel);
  connection.cancels.add(cancel);
  const { authorization } = request.headers;
  const evidence = () => connection.evidence(authorization);
  end = handler.poll({ api, type, path: pathOf(request), json, bytes, connection, evidence }, (answer) => {
    end = undefined;
    const { certificateEnds = Number.POSITIVE_INFINITY } = connection;
    if (Date.now() > certificateEnds - outdatedMs) response.shouldKeepAlive = false;
    writeAnswer(response, answer, request.headers["accept-encoding"]?.toString());
  });
}

function newConnection(socket: Socket, isUnix: boolean): RestConnection {
  const other = peerOf(socket, isUnix);
  const { text: peer, host: address } = other;
  const certificateEnds = other.certificateEnds();
  const evidence = (authorization: string | undefined) => evidenceFrom(other, authorization);
  return { peer, address, open: true, underWay: 0, cancels: new Set(), certificateEnds, evidence };
}

/** The path without its query, decoded: `%3A` is a colon. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const [path = ""] = url.split("?", 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
