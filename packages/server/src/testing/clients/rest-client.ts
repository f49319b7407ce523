import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";

/** The answer of a poll. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The parsed body; undefined if there is none. */
  readonly json: RestJson | undefined;
}

/** A response, or an error. */
export interface RestJson {
  readonly versionInfo?: string;
  readonly resources?: readonly {
    readonly "@type": string;
    readonly name?: string;
    readonly [field: string]: unknown;
  }[];
  readonly typeUrl?: string;
  readonly nonce?: string;
  readonly title?: string;
  readonly detail?: string;
}

/** Polls a server over connections that stay open, as Envoy does. */
export interface RestClient {
  /** Sends a POST by default. `body`: an object is sent as JSON. Rejects when the connection breaks. */
  send(path: string, body: unknown, options?: RestSending): Promise<RestAnswer>;
  close(): void;
}

export interface RestSending {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Goes away when it fires. */
  readonly signal?: AbortSignal;
}

export function restClient(address: string): RestClient {
  const agent = new Agent({ keepAlive: true });
  return {
    send: (path, body, { method = "POST", headers = {}, signal } = {}) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body);
        const outgoing = request(`http://${address}${path}`, { agent, method, headers, signal }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const all = Buffer.concat(chunks);
            const plain = response.headers["content-encoding"] === undefined && all.byteLength > 0;
            const json = plain ? (JSON.parse(all.toString()) as RestJson) : undefined;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: all, json });
          });
        });
        outgoing.on("error", reject);
        outgoing.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}

/** The names of the resources in an answer. */
export function namesIn({ json }: RestAnswer): readonly (string | undefined)[] {
  return (json?.resources ?? []).map(({ name, clusterName }) => name ?? (clusterName as string | undefined));
}
