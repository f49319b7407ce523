import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runTruth } from "./truth-run.js";

test("what is said of a client is what it said itself, however late it answers", (context) => {
  playSeeds(context, runTruth, 120);
});
