import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually, xdskit } from "../testing/command.js";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds, type RunningServer } from "../testing/in-process.js";
import { servedApart } from "../testing/served.js";

interface Sources {
  readonly sources: readonly { readonly state: string; readonly findings: readonly { readonly message: string }[] }[];
}

interface Resources {
  readonly resources: readonly { readonly name: string }[];
}

async function askAt(server: string, path: string): Promise<unknown> {
  return (await fetch(`${server}${path}`)).json();
}

async function namesAt(server: string): Promise<readonly string[]> {
  const { resources } = (await askAt(server, "/api/v1/layers/api/resources")) as Resources;
  return resources.map(({ name }) => name);
}

async function adminOf(running: RunningServer): Promise<string> {
  await running.seen(/^ready$/m);
  return `http://${(await running.seen(/^admin listening on (\S+)$/m))[1]}`;
}

const own = (text: string) => text.replace("name: routes", "name: own");

describe("references: strict, with several processes", () => {
  it("each worker refuses a name that nobody has, in the folder and over the API, and all take one that is there", async () => {
    const files = { "a.yaml": clusterYaml("a"), "routes.yaml": routesYaml("a") };
    await using server = await servedApart(files, "--workers", "2", "--references", "strict");
    const sourcesOf = async () => ((await server.ask("/api/v1/sources")) as Sources).sources;
    const file = await server.file("own.yaml", own(routesYaml("missing")));
    // Each call may reach another worker.
    for (let call = 0; call < 4; call += 1) {
      const { status, err } = await server.run("apply", "-f", file);
      assert.equal(status, 1, err);
      assert.match(err, /names cluster "missing", which group all lacks/);
    }
    await server.folder.write("routes.yaml", routesYaml("missing"));
    const refused = await eventually(
      sourcesOf,
      (all) => all.length === 2 && all.every((one) => one.state === "refused"),
    );
    for (const { findings } of refused) assert.match(findings[0]?.message ?? "", /names cluster "missing"/);
    // What one worker was given over the API, the folder may name at each of them.
    const { status, err } = await server.run("apply", "-f", await server.file("b.yaml", clusterYaml("missing")));
    assert.equal(status, 0, err);
    await eventually(sourcesOf, (all) => all.length === 2 && all.every((one) => one.state === "applied"));
    assert.equal((await server.run("apply", "-f", file)).status, 0);
  });

  it("each of two servers of one state refuses it, and follows what the other one took", async () => {
    await using state = await testFolder();
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using good = await testFolder({ "own.yaml": own(routesYaml("a")) });
    await using bad = await testFolder({ "own.yaml": own(routesYaml("missing")) });
    const options = ["--references", "strict", "--state", state.path, "--settle", "20ms"];
    const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    const serve = () => xdskit("serve", folder.path, ...ports, ...options);
    await using one = serve();
    await one.seen(/^ready$/m);
    await using two = serve();
    const [atOne = "", atTwo = ""] = await Promise.all([one, two].map(adminOf));
    for (const server of [atOne, atTwo]) {
      const { status, err } = await inProcessEnds("apply", "-f", bad.path, "--server", server);
      assert.equal(status, 1, err);
      assert.match(err, /names cluster "missing", which group all lacks/);
    }
    const { status, err } = await inProcessEnds("apply", "-f", good.path, "--server", atOne);
    assert.equal(status, 0, err);
    await eventually(
      () => namesAt(atTwo),
      (names) => names.includes("own"),
    );
    // Nobody may take away what the other one was told to name.
    await folder.write("a.yaml", clusterYaml("b"));
    await Promise.all([one, two].map((server) => server.seen(/cluster "a"/, "err")));
  });
});
