// From sources: it loads the page's programs as TypeScript.
import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { createFolderSource, createServer } from "@xdskit/server";
import { createClient, type XdsClient } from "./index.js";
import { defaultClientLimits } from "./options/client-limits.js";
import { waitFor } from "./testing/wait-for.js";

const root = new URL("../../../", import.meta.url);
const page = await readFile(new URL("docs/client.md", root), "utf8");
/** The folder for the page's programs: below the packages that they import. */
const folder = new URL(".cache/client-page/", root);

describe("docs/client.md", () => {
  const server = createServer();
  let address = "";
  let rest = "";
  before(async () => {
    await server.addSource(createFolderSource({ directory: new URL("examples/quickstart/config", root).pathname }));
    const listening = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
    address = listening.grpc ?? "";
    rest = listening.rest ?? "";
    await mkdir(folder, { recursive: true });
    // Its programs make their clients here, so that the test can close them.
    await writeFile(
      new URL("client.ts", folder),
      `export * from "@xdskit/client";
import * as xdskit from "@xdskit/client";
export const made = [];
export function createClient(options) {
  const client = xdskit.createClient(options);
  made.push(client);
  return client;
}
`,
    );
  });
  after(async () => {
    await server.close({ timeoutMs: 500 });
    await rm(folder, { recursive: true, force: true });
  });

  const programs = [...page.matchAll(/^#+ ([^\n]*)$|^```ts\n(.*?)^```/gms)];
  let heading = "";
  for (const [index, [, title, program]] of programs.entries()) {
    heading = title ?? heading;
    if (program === undefined) continue;
    it(`${heading}: the program runs`, { timeout: 60_000 }, async (t) => {
      const path = new URL(`program-${index}.ts`, folder);
      const text = program
        .replaceAll('"@xdskit/client"', '"./client.ts"')
        .replaceAll("127.0.0.1:18000", address)
        .replaceAll("127.0.0.1:18001", rest)
        .replaceAll('"examples/', `"${root.pathname}examples/`);
      await writeFile(path, text);
      const { made } = (await import(new URL("client.ts", folder).href)) as { made: XdsClient[] };
      const said = t.mock.method(console, "log", () => {});
      let hasFailed = false;
      const running = import(path.href).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
      running.catch(() => {});
      // A program that watches says something, and is ended then.
      await waitFor(`${heading} says something`, () => said.mock.callCount() > 0 || hasFailed);
      if (/await client\.close/.test(program)) await running;
      for (const client of made.splice(0)) await client.close();
      await running;
      said.mock.restore();
      assert.ok(said.mock.callCount() > 0);
      const lines = said.mock.calls.map((call) => call.arguments.join(" "));
      for (const line of lines) assert.doesNotMatch(line, /no configuration|nothing to use/);
    });
  }

  it("the page has every limit with its default", () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)];
    const told = Object.fromEntries(rows.map(([, name = "", value = ""]) => [name, Number(value.replaceAll(",", ""))]));
    assert.deepEqual(told, { ...defaultClientLimits });
  });

  it("the page names every method of the client, and every server setting", () => {
    const client = createClient({ servers: ["127.0.0.1:1"], node: { id: "me" } });
    const methods = Object.entries(client).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
    for (const name of methods.filter((name) => name !== "now")) assert.match(page, new RegExp(`\\b${name}\\b`));
    const settings = [
      "tls",
      "headers",
      "tokenFile",
      "variant",
      "aggregated",
      "api",
      "refreshDelayMs",
      "requestTimeoutMs",
    ];
    const others = [
      "ignoreResourceDeletion",
      "failOnDataErrors",
      "watchedDirectory",
      "absentAfterMs",
      "retained",
      "acknowledge",
    ];
    for (const name of [...settings, ...others]) assert.match(page, new RegExp(`\`${name}\``), name);
    return client.close();
  });
});
