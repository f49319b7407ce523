import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { type ResourceError, type ResourceUpdate, statusCode } from "@xdskit/protocol";
import { createClientWith } from "../create-client.js";
import { withOneServer } from "../testing/one-server-client.js";
import { scriptedTransport } from "../testing/scripted/scripted-transport.js";
import { receivedCluster, type ScriptedUpstream } from "../testing/scripted/scripted-upstream.js";
import { settle } from "../testing/settle.js";
import { watchCluster, watchClusters } from "../testing/told.js";
import { createStreamUpstream } from "../upstreams/grpc/stream-upstream.js";

const cluster = resourceTypes.find("cluster")!;

function answerWith(one: ScriptedUpstream, change: Partial<ResourceUpdate>): void {
  one.sink.responded(cluster);
  void one.sink.update({ type: cluster, upserted: [], removed: [], absent: [], failing: [], ...change });
}

const error = (name: string, code: number): ResourceError => ({ name, code, message: "so it is" });

describe("errors of a collection", () => {
  it("an error of a collection is not an empty collection", () =>
    withOneServer(async (client, one) => {
      const all = watchClusters(client);
      answerWith(one, { failing: [error("*", statusCode.permissionDenied)] });
      await settle();
      assert.deepEqual(all.lines, ["error XDSKIT_RESOURCE_FAILING"]);
      answerWith(one, {});
      await settle();
      assert.deepEqual(all.lines.slice(1), ["changed "]);
    }));

  it("errors of one member are told beside the collection, once for all members", () =>
    withOneServer(async (client, one) => {
      const [all, a] = [watchClusters(client), watchCluster(client, "a")];
      answerWith(one, { upserted: [receivedCluster("a", "1"), receivedCluster("b", "1")] });
      await settle();
      answerWith(one, { failing: [error("a", statusCode.notFound), error("b", statusCode.notFound)] });
      await settle();
      assert.deepEqual(
        [all.lines, a.lines],
        [
          ["changed a=1 b=1", "ambient XDSKIT_RESOURCE_FAILING"],
          ["changed a=1", "ambient XDSKIT_RESOURCE_FAILING"],
        ],
      );
    }));

  it("an error says that a type has no such service if no server can be asked", async () => {
    const transport = scriptedTransport(() => 0);
    const client = createClientWith({ servers: ["one:1"], node: { id: "me" } }, (_, context, sink) =>
      createStreamUpstream(
        { server: "one:1", variant: "sotw", api: "v3", aggregated: false, transport },
        context,
        sink,
      ),
    );
    const lines: string[] = [];
    client.watch("virtual-host", "*", {
      onChanged: ({ resources }) => void lines.push(`has ${resources.size}`),
      onError: ({ message }) => void lines.push(message),
    });
    await settle();
    await client.close();
    assert.match(lines.join(), /^[^,]*does not exist as a sotw service of its own in v3[^,]*$/);
  });
});
