import type { XdsClient } from "../contract/xds-client.js";
import { createClientWith } from "../create-client.js";
import { type ScriptedUpstream, scriptedUpstreams } from "./scripted/scripted-upstream.js";

/** Runs a test with a client of one server whose answers the test gives, and closes the client. */
export async function withOneServer(
  test: (client: XdsClient, server: ScriptedUpstream) => Promise<void>,
): Promise<void> {
  const { create, of } = scriptedUpstreams();
  const client = createClientWith({ servers: ["one:1"], node: { id: "me" } }, create);
  try {
    await test(client, of("one:1"));
  } finally {
    await client.close();
  }
}
