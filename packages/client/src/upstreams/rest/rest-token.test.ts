import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { XdskitError } from "@xdskit/api";
import { respond, startOddRestServer } from "../../testing/odd/odd-rest-server.js";
import { recordUpstream, typeNamed } from "../../testing/scripted/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import { createRestUpstream } from "./rest-upstream.js";

const folder = mkdtempSync(join(tmpdir(), "xdskit-rest-token-"));

it("each poll carries the token that its file holds then, and no message shows it", async (t) => {
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "first-token\n");
  const server = await startOddRestServer((response, { headers }, number) => {
    const { authorization = "" } = headers;
    if (number > 0 && authorization === "Bearer second-token") return respond(response, "2", ["b"]);
    if (number === 0) return respond(response, "1", ["a"]);
    response.writeHead(403);
    response.end(`not ${authorization}`);
  });
  const { upstream, lines } = recordUpstream((context, sink) =>
    createRestUpstream({ kind: "rest", url: server.url, tokenFile, refreshDelayMs: 20 }, context, sink),
  );
  try {
    upstream.subscribe(typeNamed("cds"), ["*"]);
    await waitFor("a poll that is refused", () => lines.some((line) => line.includes("403")));
    assert.doesNotMatch(lines.join("\n"), /first-token/);
    writeFileSync(tokenFile, "second-token");
    await waitFor("the second", () => lines.includes("+b@2 -a"));
    assert.equal(server.polls[0]?.headers.authorization, "Bearer first-token");
    rmSync(tokenFile);
    await waitFor("the missing file", () => lines.some((line) => line.includes("XDSKIT_CREDENTIALS_FILE")));
  } finally {
    await upstream.close();
    await server.close();
  }
});

it("no message shows a token that was replaced while its poll was under way", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-rest-token-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "first-token");
  const held: (() => void)[] = [];
  const server = await startOddRestServer((response, { headers }) => {
    held.push(() => {
      response.writeHead(403);
      response.end(`not ${headers.authorization}`);
    });
  });
  const { upstream, lines } = recordUpstream((context, sink) =>
    createRestUpstream({ kind: "rest", url: server.url, tokenFile, refreshDelayMs: 20 }, context, sink),
  );
  try {
    upstream.subscribe(typeNamed("cds"), ["*"]);
    await waitFor("the first poll", () => held.length === 1);
    writeFileSync(tokenFile, "second-token");
    upstream.subscribe(typeNamed("eds"), ["a"]);
    await waitFor("a poll with the next token", () => server.polls[1]?.headers.authorization === "Bearer second-token");
    for (const answer of held) answer();
    await waitFor("the refusals", () => lines.filter((line) => line.includes("403")).length >= 2);
    assert.doesNotMatch(lines.join("\n"), /first-token|second-token/);
  } finally {
    await upstream.close();
    await server.close();
  }
});

it("a token does not go over a network in plaintext", () => {
  const start = (url: string) =>
    recordUpstream((context, sink) => createRestUpstream({ kind: "rest", url, tokenFile: "/t" }, context, sink));
  for (const url of ["http://xds.example", "http://10.0.0.1:80"])
    assert.throws(
      () => start(url),
      (error) => error instanceof XdskitError && error.code === "XDSKIT_CREDENTIALS" && /plaintext/.test(error.message),
    );
  for (const url of ["https://xds.example", "http://127.0.0.1:80", "http://[::1]:80"]) void start(url).upstream.close();
});
