import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, isIPv6 } from "node:net";
import { XdskitError } from "@xdskit/api";
import { followRevoked, peerOf, renewTls } from "@xdskit/grpc-server";
import type { Address } from "@xdskit/server/address";
import { boundedBytes } from "../files/bounded-bytes.js";
import { askPath, maxAskedBytes, parsedBody, type ReplicaAnswers } from "./questions.js";
import { type ReplicaCertificates, readReplicaTls } from "./replica-tls.js";
import { type ReplicaToken, showsToken } from "./replica-token.js";

/** Where a server listens for others: a socket on this machine, or a port. */
export type ListeningPlace =
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "port"; readonly address: Address; readonly tls: ReplicaCertificates | undefined };

/** Where other servers of the store ask. `state`: on this machine; they find each other in the folder of the state. */
export type ReplicaPlace =
  | ListeningPlace
  | { readonly kind: "state"; readonly directory: string; readonly isWritable: boolean };

/** The listener for other servers of the store, listening. */
export interface ReplicaListener {
  /** As it stands in the store, for where others reach it: `unix:PATH`, `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** How often certificates are read again, in milliseconds, since files are replaced. */
const renewMs = 10_000;

/** Answers other servers of the store. Rejects with the system's error when it cannot listen. */
export async function startReplicaListener(
  place: ListeningPlace,
  token: ReplicaToken,
  answers: () => Promise<ReplicaAnswers>,
): Promise<ReplicaListener> {
  const { server, scheme, isOfStore, stop } = await serverFor(place, (request, response) => {
    const refused = isOfStore(request) ? undefined : refusal(403, "its certificate is none of a server of the store");
    void respond(response, async () => refused ?? (await answer(request, token.value, answers)));
  });
  server.requestTimeout = 10_000;
  // A port is not shared with other workers of this machine: each of them answers for itself.
  server.listen(place.kind === "socket" ? { path: place.path } : { ...place.address, exclusive: true });
  await once(server, "listening");
  return {
    address: place.kind === "socket" ? `unix:${place.path}` : `${scheme}://${hostOf(place.address, server)}`,
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

async function serverFor(place: ListeningPlace, handle: RequestListener): Promise<ReplicaServer> {
  const tls = place.kind === "port" ? place.tls : undefined;
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
    ...{ server, scheme: "https" },
    isOfStore: ({ socket }) => newest.isOfStore?.(peerOf(socket).certificate()) !== false,
    stop: () => clearInterval(timer),
  };
}

function hostOf({ host }: Address, server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

async function respond(response: ServerResponse, answered: () => Promise<Answer>): Promise<void> {
  const { status, body } = await answered().catch((error: unknown) => {
    const code = error instanceof XdskitError ? error.code : undefined;
    return { status: 500, body: { code, message: (error as Error).message } };
  });
  const text = JSON.stringify(body ?? null);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

async function answer(
  request: IncomingMessage,
  token: string,
  answers: () => Promise<ReplicaAnswers>,
): Promise<Answer> {
  const { method, url = "", headers } = request;
  if (!showsToken(headers.authorization, token)) return refusal(401, "it shows another token than that of the store");
  const name = url.startsWith(askPath) ? url.slice(askPath.length) : "";
  const known = await answers();
  const asked = Object.hasOwn(known, name) ? known[name] : undefined;
  // Another version of xdskit may ask what this one does not know.
  if (method !== "POST" || asked === undefined) return refusal(404, `it does not answer ${url.slice(0, 100)}`);
  const bytes = await boundedBytes(request, maxAskedBytes);
  if (bytes === undefined) return refusal(413, `a question has at most ${maxAskedBytes} bytes`);
  const question = parsedBody(bytes);
  if (question === undefined) return refusal(400, "the question is no JSON");
  return { status: 200, body: await asked(question.value as never) };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } };
}
