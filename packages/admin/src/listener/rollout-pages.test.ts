import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rolloutsPage } from "./rollout-pages.js";

const list = (count: number, what: object) =>
  Array.from({ length: count }, (_, name) => ({ ...what, name: `${name}` }));

const server = {
  rollouts: () => list(3, { group: "a", id: 1 }).map((one, index) => ({ ...one, group: `g${index}` })),
  quarantines: () => list(1_500, { group: "a", type: "cluster" }),
} as never;
const input = { server, shared: undefined, peers: () => [] };

async function page(query: string) {
  const answer = await rolloutsPage(input, new URLSearchParams(query));
  return [answer.rollouts.length, answer.quarantines.length, answer.next];
}

describe("a page of rollouts and quarantines", () => {
  it("has at most 1,000 of both if nobody says how many, and says where the next one begins", async () => {
    assert.deepEqual(await page(""), [3, 997, "1000"]);
    assert.deepEqual(await page("after=1000"), [0, 503, undefined]);
  });

  it("has as many as the query says, rollouts before quarantines", async () => {
    assert.deepEqual(await page("limit=2"), [2, 0, "2"]);
    assert.deepEqual(await page("limit=2&after=2"), [1, 1, "4"]);
    assert.deepEqual(await page("limit=10000"), [3, 1_500, undefined]);
  });

  it("is refused for a wrong query", async () => {
    for (const query of ["limit=0", "limit=x", "limit=10001", "limit=1.5"])
      await assert.rejects(page(query), /^ApiProblem: limit: /, query);
    for (const query of ["after=x", "after=-1", "after="])
      await assert.rejects(page(query), /^ApiProblem: after: /, query);
  });
});
