import { test } from "node:test";
import { runModel } from "./testing/model/model-run.js";
import { playSeeds } from "./testing/play-seeds.js";

test("what a client holds in the end is what it asked for, whatever happens on the way", (context) => {
  playSeeds(context, runModel, { usual: 3000, asked: process.env.MODEL_RUNS });
});
