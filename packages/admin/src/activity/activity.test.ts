import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runningApi } from "../testing/running-api.js";
import { stepMs, sumOfSamples } from "./activity.js";

describe("the samples of several servers", () => {
  it("are added up by their time; a rollout counts the nodes of all servers already", () => {
    const sample = (at: number, pushes: number, heldBack: number) => ({ at, pushes, rejections: 1, heldBack });
    assert.deepEqual(sumOfSamples([[sample(0, 1, 5), sample(stepMs, 2, 5)], [sample(stepMs, 10, 4)]]), [
      { at: 0, pushes: 1, rejections: 1, heldBack: 5 },
      { at: stepMs, pushes: 12, rejections: 2, heldBack: 5 },
    ]);
  });

  it("are those of half an hour at most", () => {
    const many = Array.from({ length: 500 }, (_, index) => ({ at: index, pushes: 0, rejections: 0, heldBack: 0 }));
    const kept = sumOfSamples([many]);
    assert.deepEqual([kept.length, kept.at(-1)?.at], [120, 499]);
  });

  it("are asked of all servers; one that does not answer is left out", async () => {
    const at = Math.floor(Date.now() / stepMs) * stepMs;
    const ask = async (question: string) => {
      assert.equal(question, "activity");
      return [{ at, pushes: 7, rejections: 2, heldBack: 3 }];
    };
    const silent = { name: "c", ask: async () => Promise.reject(new Error("it does not answer")) };
    await using api = await runningApi({ peers: () => [{ name: "b", ask }, silent] });
    const { samples } = (await api.ask("GET", "activity")).body;
    const found = samples.find((sample: { at: string }) => sample.at === new Date(at).toISOString());
    assert.deepEqual(found, { at: new Date(at).toISOString(), pushes: 7, rejections: 2, heldBack: 3 });
  });
});
