import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { servedApart } from "../testing/served.js";

const [stays, goes] = [newToken(), newToken()];
const identities = (...names: readonly string[]) => `
tokens: { stays: "${hashOfToken(stays)}", goes: "${hashOfToken(goes)}" }
identities:
${names.map((name) => `  - { when: { token: ${name} }, node: { id: "${name}-*" } }`).join("\n")}
`;

test("an edit of identities holds in every worker, without a restart", async () => {
  await using beside = await testFolder({ stays, goes });
  const files = { "a.yaml": clusterYaml("web"), "xdskit.yaml": identities("stays", "goes") };
  await using server = await servedApart(files, "--workers", "2");
  /** Whether it is served, over four connections: one worker after the other gets them. */
  const served = async (name: string) => {
    const token = `${beside.path}/${name}`;
    const ask = ["get", "cluster", "--server", server.grpc, "--node-id", `${name}-1`, "--token-file", token];
    const ends = [];
    for (let at = 0; at < 4; at++) ends.push((await inProcessEnds(...ask, "--timeout", "5s")).status === 0);
    return ends;
  };
  assert.deepEqual([await served("stays"), await served("goes")].flat(), Array(8).fill(true));
  await server.folder.write("xdskit.yaml", identities("stays"));
  await eventually(
    () => served("goes"),
    (ends) => !ends.includes(true),
  );
  assert.deepEqual(await served("stays"), Array(4).fill(true));
  assert.doesNotMatch(server.running.err(), /a worker ended/);
});
