import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What requests pass through on their way to a server. */
export interface Passing extends AsyncDisposable {
  readonly url: string;
}

/**
 * Passes requests on to a server. `answered` runs after the server has answered a body, and before that is passed back.
 */
export async function passing(
  server: string,
  answered: (body: { readonly dryRun?: boolean }) => Promise<void>,
): Promise<Passing> {
  const http = createServer(async (request, response) => {
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
