import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { mustBeAccessible, openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { serve, startBench } from "./harness/xdskit/xdskit.js";

test("the dashboard of two servers, of which one falls silent", { timeout: 180_000 }, async (t) => {
  const program = peer("etcd", t);
  if (program === undefined) return;
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const etcd = await EtcdCluster.start(program, { size: 1 });
  scene.onEnd(() => etcd.stop());
  const folder = await createConfigFolder(scene.directory, shopFiles());
  await folder.putText("xdskit.yaml", "rebalance: off\n");
  const store = ["--store", `etcd://${etcd.endpoints.join(",")}/shop`];
  const port = await freePort();
  const gate = await startGate(scene, port);
  const one = await serve(scene, folder.path, { args: [...store, "--replica", "127.0.0.1:0"] });
  const args = [...store, "--replica", `127.0.0.1:${port}`, "--advertise", gate.address];
  const two = await serve(scene, folder.path, { args });
  startBench(scene, one.grpc, { nodes: 3, id: "here-{n}" });
  startBench(scene, two.grpc, { nodes: 4, id: "there-{n}" });
  const { page, goTo, faults } = await openDashboard(browser, one.admin);

  await scene.step("shows the nodes of both, and which server has which", async () => {
    await page.getByText("7 nodes shown").waitFor({ timeout: 90_000 });
    const replicas = page.getByRole("combobox", { name: "Replica" });
    const names = (await replicas.locator("option").allInnerTexts()).filter((name) => name !== "all");
    assert.equal(names.length, 2, names.join());
    const counts: number[] = [];
    for (const name of names) {
      await replicas.selectOption(name);
      await page.waitForURL((url) => decodeURIComponent(url.hash).includes(`replica=${name}`));
      const shown = await eventually("its nodes, and no others", async () => {
        const cells = await page.locator(".virtual-window .cell-replica").allInnerTexts();
        const isShown = await page.getByText(`${cells.length} nodes shown`, { exact: true }).isVisible();
        return isShown && cells.length < 7 && cells.every((cell) => cell === name) && cells;
      });
      counts.push(shown.length);
    }
    assert.deepEqual(counts.toSorted(), [3, 4]);
    await goTo("fleet");
  });

  await scene.step("says that one does not answer, and that its nodes are missing; and that it is back", async () => {
    gate.close();
    const notice = page.locator(".notice", { hasText: "does not answer" });
    await notice.getByText("its nodes are not shown").waitFor({ timeout: 60_000 });
    await mustBeAccessible({ page, goTo, faults }, "a silent server");
    await goTo("problems");
    await page.getByRole("heading", { name: /does not answer the other servers$/ }).waitFor();
    gate.open();
    await goTo("fleet");
    await notice.waitFor({ state: "detached", timeout: 60_000 });
    await eventually("all nodes", () => page.getByText("7 nodes shown").isVisible(), { withinMs: 60_000 });
  });

  await scene.step("says that the store is away and what to do, as long as it is", async () => {
    await etcd.members[0]?.kill();
    await goTo("problems");
    const card = page.locator(".problem-error", { hasText: "The store is not what it should be" });
    await card.getByText("Look at the disk or at etcd.").waitFor({ timeout: 60_000 });
    await etcd.members[0]?.start();
    await card.waitFor({ state: "detached", timeout: 60_000 });
    assert.deepEqual([...faults], []);
  });
});

/** Stands before a port. While it is closed, nothing that comes is answered: as on a network that is cut. */
async function startGate(scene: Scene, port: number) {
  let isOpen = true;
  const held = new Set<Socket>();
  const server = createServer((from) => {
    held.add(from);
    from.on("error", () => {}).on("close", () => held.delete(from));
    if (!isOpen) return;
    const to = connect(port, "127.0.0.1");
    to.on("error", () => from.destroy()).on("close", () => from.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = () => {
    for (const socket of held) socket.destroy();
  };
  scene.onEnd(() => {
    end();
    server.close();
  });
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    close() {
      isOpen = false;
      end();
    },
    open() {
      isOpen = true;
      end();
    },
  };
}
