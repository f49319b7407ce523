import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OnDemandOptions, Supplier } from "../settings/on-demand-options.js";
import { waitFor, within } from "../testing/basics/wait-for.js";
import { longHold, parkedPolls, responseIn, shortHold, withMemoryPolls } from "../testing/running-rest.js";
import { types } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import type { MemoryPollClient } from "../transports/memory/memory-polls.js";

const node = { id: "n1" };

function demanding(supply: Supplier): { readonly onDemand: OnDemandOptions } {
  return { onDemand: { types: ["cluster"], supply, answerWithinMs: 60_000 } };
}

async function ask(client: MemoryPollClient, names: readonly string[]) {
  const answer = await within("an answer", client.poll(types.cluster, { node, resource_names: names }).answer);
  return responseIn(answer)?.resources?.map(({ name }) => name) ?? answer.kind;
}

describe("a poll for resources that are supplied on demand", () => {
  it("a poll for supplied resources is answered once the supplier has decided", async () => {
    const asked: string[] = [];
    let supply: (() => void) | undefined;
    const supplier: Supplier = async ({ name }) => {
      asked.push(name);
      await new Promise<void>((resolve) => {
        supply = resolve;
      });
      return name === "b" ? cluster(name) : undefined;
    };
    await withMemoryPolls({ rest: longHold, ...demanding(supplier) }, async ({ server, transport, address }) => {
      server.config.set([cluster("a")]);
      const client = transport.connect(address);
      const answer = ask(client, ["a", "b"]);
      await waitFor("the call", () => asked.length === 1);
      assert.equal(parkedPolls(server), 1);
      supply?.();
      assert.deepEqual(((await answer) as readonly string[]).toSorted(), ["a", "b"]);
      // The supplier is not called again for every poll.
      assert.deepEqual(await ask(client, ["b"]), ["b"]);
      const nothing = ask(client, ["c"]);
      await waitFor("the call", () => asked.length === 2);
      supply?.();
      assert.deepEqual(await nothing, []);
      assert.deepEqual(asked, ["b", "c"]);
    });
  });

  it("a poll for supplied resources waits no longer than the hold", async () => {
    const never: Supplier = () => new Promise(() => {});
    await withMemoryPolls({ rest: shortHold, ...demanding(never) }, async ({ server, transport, address }) => {
      server.config.set([cluster("a")]);
      const client = transport.connect(address);
      assert.deepEqual(await ask(client, ["a", "b"]), ["a"]);
      assert.deepEqual(await ask(client, ["b"]), []);
    });
  });

  it("a poll for supplied resources gets the existing resources without a call if it has dynamic parameters", async () => {
    const asked: string[] = [];
    const supply: Supplier = ({ name }) => {
      asked.push(name);
      return undefined;
    };
    await withMemoryPolls({ rest: shortHold, ...demanding(supply) }, async ({ server, transport, address }) => {
      server.config.set([cluster("a")]);
      const locators = ["a", "b"].map((name) => ({ name, dynamic_parameters: { params: { env: "prod" } } }));
      const json = { node, resource_names: ["c"], resource_locators: locators };
      const answer = await within("an answer", transport.connect(address).poll(types.cluster, json).answer);
      assert.deepEqual(
        responseIn(answer)?.resources?.map(({ name }) => name),
        ["a"],
      );
      assert.deepEqual(asked, ["c"]);
    });
  });
});
