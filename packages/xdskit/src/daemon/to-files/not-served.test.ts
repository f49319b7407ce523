import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { clusterYaml, testFolder } from "../../testing/folder.js";
import { inProcessEnds } from "../../testing/in-process.js";
import { mustNotBeServed } from "./not-served.js";

test("a served folder is not written into itself", async () => {
  await using folder = await testFolder({ "config/shared/a.yaml": clusterYaml("a") });
  const at = (...path: readonly string[]) => join(folder.path, ...path);
  await symlink("config", at("link"));
  await mkdir(at("config.new"));
  const check = (written: string, folders?: readonly string[], served = "config") =>
    mustNotBeServed({ served: at(served), folders, written: at(written) });

  for (const written of ["config", "config/envoy", "config/not/there/yet", "link/envoy", "config/shared/envoy"])
    await assert.rejects(check(written), /which is served.*XDSKIT_TO_FILES/);
  await assert.rejects(check("config/envoy", undefined, "link"), /XDSKIT_TO_FILES/);
  await assert.rejects(check("config/shared/envoy", ["edge", "shared"]), /XDSKIT_TO_FILES/);
  // Beside it, in what no group has, and where nothing is read.
  for (const written of ["envoy", "config.new", "config/.envoy", "."]) await check(written);
  await check("config/envoy", ["edge", "shared"]);

  const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
  const { status, out, err } = await inProcessEnds("serve", at("config"), ...ports, "--to-files", at("config/envoy"));
  assert.deepEqual([status, out], [2, ""]);
  assert.match(err, /^xdskit serve: .*envoy: the folder is in .*config, which is served: .*\[XDSKIT_TO_FILES\]\n$/);
});
