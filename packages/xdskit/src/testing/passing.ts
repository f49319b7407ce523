import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What requests pass through on their way to a server. */
export interface Passing extends AsyncDisposable {
  readonly url: string;
}

/** What becomes of a request that does not reach the server: a status, no answer ever, or a cut connection. */
export type Broken = { readonly status: number } | "silent" | "cut";

/**
 * Passes requests on to a server. `answered` runs after the server has answered a body, and before that is passed back.
 * `broken` says which requests do not reach the server.
 */
export async function passing(
  server: string,
  answered: (body: { readonly dryRun?: boolean }) => Promise<void>,
  broken: (path: string) => Broken | undefined = () => undefined,
): Promise<Passing> {
  const http = createServer(async (request, response) => {
    const fault = broken(request.url ?? "");
    if (fault === "silent") return;
    if (fault === "cut") return void request.socket.destroy();
    if (fault !== undefined) return void response.writeHead(fault.status).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const headers = new Headers();
    for (const name of ["content-type", "if-match", "if-none-match"]) {
      const value = request.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const { method } = request;
    const answer = await fetch(`${server}${request.url}`, { method, headers, ...(body.length === 0 ? {} : { body }) });
    const text = await answer.text();
    if (body.length > 0) await answered(JSON.parse(body.toString()));
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(text);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
