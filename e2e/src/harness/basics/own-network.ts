import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createNetwork, isInOwnNetwork, type Network, ownNetworkVariable } from "./network.js";
import { startProcess } from "./process.js";
import { createScene, type Scene } from "./scene.js";

/** A test, and how it is run. */
export interface OwnNetworkTest {
  readonly title: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** `import.meta.url` of its file, which has no other test. */
  readonly file: string;
  /** Run without a network where the machine allows none; otherwise the test is skipped there. */
  readonly isOptional?: boolean;
  readonly run: (t: TestContext, scene: Scene, network: Network | undefined) => Promise<void>;
}

/**
 * A test whose process has a network of its own, in which each place can be cut off. Network namespaces need Linux and
 * a user who may make them (root, or one with user namespaces). A machine without them is told apart from a failure
 * also with CI set: the reason is printed.
 */
export function testInOwnNetwork({ title, timeout, file, isOptional = false, run }: OwnNetworkTest): void {
  test(title, { timeout }, async (t) => {
    if (isInOwnNetwork) {
      const scene = await createScene(t);
      return await run(t, scene, await createNetwork(scene));
    }
    const way = wayIn();
    if (way !== undefined) return await again(way, fileURLToPath(file));
    const reason = "this machine does not allow network namespaces: nothing is cut off";
    console.error(`\n*** NOT TESTED: ${title}: ${reason} ***\n`);
    if (!isOptional) return t.skip(reason);
    await run(t, await createScene(t), undefined);
  });
}

/** The options of `unshare` that lead into a network of one's own. */
function wayIn(): readonly string[] | undefined {
  const check = "ip link add name a type bridge && ip link add name b type veth peer name c && nsenter --version";
  const ways = [["--net"], ["--map-root-user", "--net"]];
  return ways.find((way) => spawnSync("unshare", [...way, "sh", "-c", check], { stdio: "ignore" }).status === 0);
}

/** Runs the file once more, there. Its lines are printed. */
async function again(way: readonly string[], file: string): Promise<void> {
  const options = process.execArgv.filter((option) => !option.startsWith("--test"));
  const child = startProcess({
    name: file,
    command: "unshare",
    args: [...way, process.execPath, ...options, file],
    // As built it may have been part of a bundle, which had the sources that it names.
    env: { [ownNetworkVariable]: "yes", NODE_TEST_CONTEXT: "", XDSKIT_TESTS_NAMING_SOURCES: file },
    isShown: true,
  });
  const { code, signal } = await child.ended;
  assert.equal(signal ?? code, 0, `${file} failed in a network of its own`);
}
