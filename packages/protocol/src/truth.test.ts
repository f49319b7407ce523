import { test } from "node:test";
import { playSeeds } from "./testing/play-seeds.js";
import { runTruth } from "./testing/truth/truth-run.js";

test("what is said of a client is what it said itself, however late it answers", (context) => {
  playSeeds(context, runTruth, { usual: 500, asked: process.env.TRUTH_RUNS });
});
