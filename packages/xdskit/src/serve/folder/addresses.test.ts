import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually } from "../../testing/command.js";
import { testFolder } from "../../testing/folder.js";
import { servesHere } from "../../testing/in-process.js";

const type = "type.googleapis.com/envoy.config.listener.v3.Listener";
const proxy = "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";
const filters = [{ name: "tcp", typedConfig: { "@type": proxy, statPrefix: "a", cluster: "a" } }];

function listener(name: string, port: number) {
  const address = { socketAddress: { address: "10.0.0.1", portValue: port } };
  return { "@type": type, name, address, filterChains: [{ filters }] };
}

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

describe("a listener of the folder, and one that the API writes", () => {
  it("may not have one address, whichever comes later; the folder is taken once the API's has another", async () => {
    await using folder = await testFolder({ "a.json": JSON.stringify(listener("a", 80)) });
    await using running = servesHere("serve", folder.path, "--state", "off", "--settle", "20ms", ...anyPorts);
    await running.seen(/^ready$/m);
    const [, admin = ""] = await running.seen(/^admin listening on (\S+)$/m);
    const put = async (name: string, port: number) => {
      const response = await fetch(`http://${admin}/api/v1/layers/api/changes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ upsert: [listener(name, port)] }),
      });
      return { status: response.status, body: (await response.json()) as { readonly detail?: string } };
    };
    const refused = await put("b", 80);
    assert.equal(refused.status, 422);
    assert.match(
      refused.body.detail ?? "",
      /as listener "a" \(the folder\) does in the group all: an Envoy takes only/,
    );
    assert.equal((await put("b", 81)).status, 200);
    await folder.write("a.json", JSON.stringify(listener("a", 81)));
    const [text] = await running.seen(/a\.json:1\S*: listener "a", address: listens at .* as listener "b" .*\]/, "err");
    assert.match(
      text,
      /\(layer api\) does in the group all: an Envoy takes only one of them \[XDSKIT_CLIENTS_REFUSE\]$/,
    );
    await running.seen(/change refused: the last good configuration stays/, "err");
    const source = async () => {
      const { sources } = (await (await fetch(`http://${admin}/api/v1/sources`)).json()) as {
        readonly sources: readonly {
          readonly state: string;
          readonly findings: readonly { readonly file: string }[];
        }[];
      };
      return sources[0];
    };
    const is = await eventually(source, (one) => one?.state === "refused");
    assert.equal(is?.findings[0]?.file, join(folder.path, "a.json"));
    assert.equal((await put("b", 82)).status, 200);
    await eventually(source, (one) => one?.state === "applied");
    const resources = await (await fetch(`http://${admin}/api/v1/layers/folder/resources`)).text();
    assert.match(resources, /"portValue":81/);
  });

  it("may not have one address after a restart either: the last good revision of the folder is served", async () => {
    await using folder = await testFolder({ "a.json": JSON.stringify(listener("a", 80)) });
    await using state = await testFolder();
    const started = () => servesHere("serve", folder.path, "--state", state.path, "--settle", "20ms", ...anyPorts);
    const own = async (running: ReturnType<typeof started>, method: string) => {
      await running.seen(/^ready$/m);
      const [, admin = ""] = await running.seen(/^admin listening on (\S+)$/m);
      const answer = await fetch(`http://${admin}/api/v1/layers/api/resources/listener/b`, {
        method,
        headers: { "content-type": "application/json" },
        ...(method === "PUT" ? { body: JSON.stringify(listener("b", 81)) } : {}),
      });
      assert.equal(answer.status, 200, await answer.text());
    };
    {
      await using first = started();
      await own(first, "PUT");
      first.kill("SIGTERM");
      await first.ended();
    }
    await folder.write("a.json", JSON.stringify(listener("a", 81)));
    await using running = started();
    await running.seen(/a\.json:1\S*: listener "a", address: listens at .* as listener "b" \(layer api\) does/, "err");
    await running.seen(/its last good revision is served/, "err");
    await own(running, "DELETE");
    await running.seen(/configuration applied/, "err");
  });

  it("may both have it where errors are skipped", async () => {
    await using folder = await testFolder({
      "a.json": JSON.stringify(listener("a", 80)),
      "xdskit.yaml": "on_invalid: skip\n",
    });
    await using running = servesHere("serve", folder.path, "--state", "off", ...anyPorts);
    await running.seen(/^ready$/m);
    const [, admin = ""] = await running.seen(/^admin listening on (\S+)$/m);
    const response = await fetch(`http://${admin}/api/v1/layers/api/resources/listener/b`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(listener("b", 80)),
    });
    assert.equal(response.status, 200);
  });
});
