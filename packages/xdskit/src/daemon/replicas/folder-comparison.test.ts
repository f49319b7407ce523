import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { createServer } from "@xdskit/server";
import { waitFor } from "../../../../grpc-server/src/testing/wait-for.js";
import { cluster } from "../../../../server/src/testing/test-resources.js";
import { FolderComparison, folderVersions } from "./folder-comparison.js";

/** Two servers, of which the first is compared with the second. */
function compared(t: TestContext) {
  const [one, two] = [createServer(), createServer()];
  const told: (string | undefined)[] = [];
  const second = { isSilent: false, isGone: false };
  let looks = 0;
  const comparison = new FolderComparison({
    own: () => folderVersions(one, ["default"]),
    async others() {
      looks += 1;
      if (second.isGone) return [];
      return [{ name: "two", versions: second.isSilent ? undefined : folderVersions(two, ["default"]) }];
    },
    onChanged: (finding) => void told.push(finding?.message),
    everyMs: 5,
  });
  t.after(async () => {
    await comparison.close();
    await Promise.all([one.close(), two.close()]);
  });
  const looked = async (times: number) => {
    const before = looks;
    await waitFor("it has looked", () => looks >= before + times);
  };
  return { one, two, second, told, looked };
}

it("servers whose folders differ for some time are told once, and once more when they do not any more", async (t) => {
  const { one, two, told, looked } = compared(t);
  one.config.set([cluster("a"), cluster("b")]);
  two.config.set([cluster("b"), cluster("a")]);
  await looked(10);
  assert.deepEqual(told, []);
  two.config.set([cluster("a")]);
  await looked(10);
  const message = "the folder differs from that of two (cluster): their clients get other resources";
  assert.deepEqual(told, [message]);
  one.config.set([cluster("a")]);
  await looked(2);
  assert.deepEqual(told, [message, undefined]);
});

it("a difference lasts while the other server does not answer, and is over when it is gone", async (t) => {
  const { one, two, second, told, looked } = compared(t);
  one.config.set([cluster("a")]);
  two.config.set([cluster("b")]);
  await looked(10);
  assert.equal(told.length, 1);
  second.isSilent = true;
  await looked(3);
  second.isSilent = false;
  await looked(10);
  assert.equal(told.length, 1);
  second.isGone = true;
  await looked(2);
  assert.deepEqual(told.slice(1), [undefined]);
});

it("folders that both change all the time do not count as different, and one that stands still does", async (t) => {
  const { one, two, told, looked } = compared(t);
  const change = async (round: number, ...servers: readonly (typeof one)[]) => {
    for (const [index, server] of servers.entries()) server.config.set([cluster(`${round} ${index}`)]);
    await looked(1);
  };
  for (let round = 0; round < 12; round += 1) await change(round, one, two);
  assert.deepEqual(told, []);
  for (let round = 0; round < 12; round += 1) await change(100 + round, two);
  assert.equal(told.length, 1);
});

it("a change that comes to one folder a moment later is no difference", async (t) => {
  const { one, two, told, looked } = compared(t);
  for (let round = 0; round < 5; round += 1) {
    one.config.set([cluster(`${round}`)]);
    await looked(2);
    two.config.set([cluster(`${round}`)]);
    await looked(2);
  }
  assert.deepEqual(told, []);
});
