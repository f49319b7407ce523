import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runTruth } from "./truth-run.js";

test("the status of a client is what the client itself said, however late it answers", (context) => {
  playSeeds(context, runTruth, 60);
});
