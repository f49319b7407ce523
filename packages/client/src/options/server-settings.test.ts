import assert from "node:assert/strict";
import { test } from "node:test";
import { XdskitError } from "@xdskit/api";
import { createServer } from "@xdskit/server";
import { createClient } from "../create-client.js";
import type { ServerSettings } from "./client-options.js";

/** The client's error about a server that it cannot use. */
function refusal(server: ServerSettings): XdskitError {
  try {
    createClient({ servers: [server], node: { id: "a" } }).close();
  } catch (error) {
    if (error instanceof XdskitError) return error;
    throw error;
  }
  assert.fail("it is taken");
}

test("an error quotes no URL that may hold a password", () => {
  const wrong: readonly ServerSettings[] = [
    "http://edge:S3CR3T@host:port",
    "https://edge:S3CR3T@",
    { kind: "rest", url: "edge:S3CR3T@host:1" },
    { kind: "rest", url: "ftp://edge:S3CR3T@host" },
    { kind: "rest", url: "http://edge:S3CR3T@host", tls: {} },
  ];
  for (const server of wrong) {
    const { code, message, findings } = refusal(server);
    assert.match(code, /^XDSKIT_(CLIENT_OPTION|CREDENTIALS)$/);
    assert.doesNotMatch(message + JSON.stringify(findings), /S3CR3T/);
  }
});

test("a password with a bare % is taken as it is", async () => {
  const client = createClient({ servers: ["http://edge:100%25%zz@127.0.0.1:1"], node: { id: "a" } });
  assert.deepEqual(
    client.status().map(({ server }) => server),
    ["http://127.0.0.1:1"],
  );
  await client.close();
});

test("a gRPC address that is written as a URL is refused with the right form", async () => {
  const server = createServer();
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({ servers: [`http://${grpc}`], node: { id: "a" } });
  const message = /does not speak HTTP\/1: .* For gRPC write HOST:PORT, without http:\/\//;
  await assert.rejects(client.get("cluster", "web", { timeout: 10_000 }), message);
  await client.close();
  await server.close();
});
