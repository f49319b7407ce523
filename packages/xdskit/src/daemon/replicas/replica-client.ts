import { X509Certificate } from "node:crypto";
import { type Agent, type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http";
import { type RequestOptions, request as tlsRequest } from "node:https";
import { isAbsolute, join } from "node:path";
import type { PeerCertificate } from "node:tls";
import { maxBody } from "@xdskit/api";
import { hostOf } from "@xdskit/server/address";
import { boundedBytes } from "../../files/bounded-bytes.js";
import { askPath, parsedBody } from "./questions.js";
import { type ReplicaCertificates, type ReplicaTls, readReplicaTls } from "./replica-tls.js";
import type { Replica } from "./replicas-there.js";

export interface AskOptions {
  readonly token: string;
  /** Undefined: replicas are reached without TLS. */
  readonly tls: ReplicaCertificates | undefined;
  /** The folder of this server's state: sockets may be below it. Undefined: it has none. */
  readonly directory: string | undefined;
  /** After this many milliseconds without an answer a replica counts as silent. */
  readonly timeoutMs: number;
}

/** A replica knows another token. */
export class TokenRefused extends Error {}

/** Asks one replica. Rejects if it does not answer in time, or not as it should. */
export async function ask(replica: Replica, question: string, asked: unknown, options: AskOptions): Promise<unknown> {
  const { token, timeoutMs } = options;
  const text = JSON.stringify(asked ?? null);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  };
  const target = await targetOf(replica, options);
  const signal = AbortSignal.timeout(timeoutMs);
  return await new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(signal.aborted ? new Error(`it did not answer within ${timeoutMs / 1_000} s`) : error);
    target
      .send({ ...target.to, path: askPath + question, method: "POST", headers, signal }, (response) => {
        readAnswer(response).then(resolve, fail);
      })
      .on("error", fail)
      .end(text);
  });
}

interface ReplicaTarget {
  readonly send: (options: RequestOptions, answered: (response: IncomingMessage) => void) => ClientRequest;
  readonly to: RequestOptions;
}

async function targetOf({ address }: Replica, { tls, directory = "" }: AskOptions): Promise<ReplicaTarget> {
  // A connection for each question: they are rare, and none of them goes stale.
  const agent = false as unknown as Agent;
  if (address.startsWith("unix:")) {
    const path = address.slice(5);
    // The others may have the folder under another path: in a container.
    return { send: plainRequest, to: { socketPath: isAbsolute(path) ? path : join(directory, path), agent } };
  }
  const url = new URL(address);
  const to = { host: hostOf(url), port: url.port, agent };
  if (url.protocol === "http:") return { send: plainRequest, to };
  if (tls === undefined) return { send: tlsRequest, to };
  const { cert, key, ca, isOfStore } = await readReplicaTls(tls);
  const checkServerIdentity = isOfStore && ((_: string, peer: PeerCertificate) => strangerError(isOfStore, peer));
  return { send: tlsRequest, to: { ...to, cert, key, ca, ...(checkServerIdentity && { checkServerIdentity }) } };
}

function strangerError(isOfStore: NonNullable<ReplicaTls["isOfStore"]>, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  if (isOfStore(certificate)) return undefined;
  const shown = certificate.subjectAltName ?? certificate.subject;
  return new Error(`its certificate (${shown.slice(0, 300)}) is none of a server of the store`);
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const bytes = await boundedBytes(response, maxBody);
  if (bytes === undefined) throw new Error(`it answers with more than ${maxBody} bytes`);
  const read = parsedBody(bytes);
  if (read === undefined) throw new Error("it answers with something else than JSON");
  const body = read.value as { readonly message?: string } | null;
  if (response.statusCode === 401) throw new TokenRefused(body?.message);
  if (response.statusCode !== 200) throw new Error(body?.message ?? `it answers with status ${response.statusCode}`);
  return body;
}
