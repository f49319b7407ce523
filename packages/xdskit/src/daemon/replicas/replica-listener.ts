import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, isIPv6 } from "node:net";
import { XdskitError } from "@xdskit/api";
import { followRevoked, peerOf, renewTls } from "@xdskit/grpc-server";
import { type CallerRefused, createRules, evidenceFrom } from "@xdskit/server";
import type { Address } from "@xdskit/server/address";
import { boundedBytes } from "../../files/bounded-bytes.js";
import { askPath, maxAskedBytes, parsedBody, type ReplicaAnswers } from "./questions.js";
import { type ReplicaCertificates, readReplicaTls } from "./replica-tls.js";
import { type ReplicaToken, showsToken } from "./replica-token.js";

/** Where a server listens for others: a socket on this machine, or a port. */
export type ReplicaPort =
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "port"; readonly address: Address; readonly tls: ReplicaCertificates | undefined };

/** Where other servers of the store ask. `state`: on this machine; they find each other in the folder of the state. */
export type ReplicaAddress =
  | ReplicaPort
  | { readonly kind: "state"; readonly directory: string; readonly isWritable: boolean };

/** The listener for other servers of the store, listening. */
export interface ReplicaListener {
  /** As it stands in the store, for where others reach it: `unix:PATH`, `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** How often certificates are read again, in milliseconds, since files are replaced. */
const renewMs = 10_000;

/** What a listener answers, and to whom it does not. */
export interface ListenerOptions {
  readonly token: ReplicaToken;
  readonly answers: () => Promise<ReplicaAnswers>;
  /** Told who asked and is none of the servers of the store. */
  readonly refused: (refused: CallerRefused) => void;
}

/** Answers other servers of the store. Rejects with the system's error when it cannot listen. */
export async function startReplicaListener(
  at: ReplicaPort,
  { token, answers, refused }: ListenerOptions,
): Promise<ReplicaListener> {
  const { server, scheme, isOfStore, stop } = await serverFor(at, (request, response) => {
    const refusal = isOfStore(request)
      ? tokenRefusal(request, token.value)
      : refusalOf(403, "its certificate is none of a server of the store");
    if (refusal !== undefined) refused(refusedAsker(request));
    void respond(response, async () => refusal ?? (await answer(request, answers)));
  });
  server.requestTimeout = 10_000;
  // A port is not shared with other workers of this machine: each of them answers for itself.
  server.listen(at.kind === "socket" ? { path: at.path } : { ...at.address, exclusive: true });
  await once(server, "listening");
  return {
    address: at.kind === "socket" ? `unix:${at.path}` : `${scheme}://${hostOf(at.address, server)}`,
    close: () =>
      new Promise((resolve) => {
        stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ReplicaServer {
  readonly server: Server | TlsServer;
  readonly scheme: "http" | "https";
  /** Whether the certificate of who asks is one of a server of the store. */
  isOfStore(request: IncomingMessage): boolean;
  stop(): void;
}

async function serverFor(at: ReplicaPort, handle: RequestListener): Promise<ReplicaServer> {
  const tls = at.kind === "port" ? at.tls : undefined;
  if (tls === undefined) return { server: createServer(handle), scheme: "http", isOfStore: () => true, stop() {} };
  const first = await readReplicaTls(tls);
  const isMutual = first.ca !== undefined;
  const server = createTlsServer({ ...first, requestCert: isMutual, rejectUnauthorized: isMutual }, handle);
  followRevoked(server, first);
  let newest = first;
  const renew = async () => {
    newest = await readReplicaTls(tls);
    renewTls(server, newest);
  };
  // Certificates that cannot be read now are read later; the old ones serve meanwhile.
  const timer = setInterval(() => void renew().catch(() => {}), renewMs).unref();
  return {
    server,
    scheme: "https",
    isOfStore: ({ socket }) => newest.isOfStore?.(peerOf(socket).certificate()) !== false,
    stop: () => clearInterval(timer),
  };
}

function hostOf({ host }: Address, server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

async function respond(response: ServerResponse, answered: () => Promise<ReplicaAnswer>): Promise<void> {
  const { status, body } = await answered().catch((error: unknown) => {
    const code = error instanceof XdskitError ? error.code : undefined;
    return { status: 500, body: { code, message: (error as Error).message } };
  });
  const text = JSON.stringify(body ?? null);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function tokenRefusal({ headers }: IncomingMessage, token: string): ReplicaAnswer | undefined {
  if (showsToken(headers.authorization, token)) return undefined;
  return refusalOf(401, "it shows another token than that of the store");
}

const noRules = createRules([]);

/** For the log and the audit: what it showed, without the token. */
function refusedAsker({ socket, url = "", headers }: IncomingMessage): CallerRefused {
  const peer = peerOf(socket, socket.remoteAddress === undefined);
  const proved = noRules.shown(evidenceFrom(peer, headers.authorization));
  return { peer: peer.text, called: url.slice(0, 200), rule: undefined, proved, claimed: undefined };
}

async function answer(request: IncomingMessage, answers: () => Promise<ReplicaAnswers>): Promise<ReplicaAnswer> {
  const { method, url = "" } = request;
  const name = url.startsWith(askPath) ? url.slice(askPath.length) : "";
  const known = await answers();
  const asked = Object.hasOwn(known, name) ? known[name] : undefined;
  // Another version of xdskit may ask what this one does not know.
  if (method !== "POST" || asked === undefined) return refusalOf(404, `it does not answer ${url.slice(0, 100)}`);
  const bytes = await boundedBytes(request, maxAskedBytes);
  if (bytes === undefined) return refusalOf(413, `a question has at most ${maxAskedBytes} bytes`);
  const question = parsedBody(bytes);
  if (question === undefined) return refusalOf(400, "the question is no JSON");
  return { status: 200, body: await asked(question.value as never) };
}

interface ReplicaAnswer {
  readonly status: number;
  readonly body: unknown;
}

function refusalOf(status: number, message: string): ReplicaAnswer {
  return { status, body: { message } };
}
