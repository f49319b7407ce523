import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runModel } from "./model-run.js";

test("a client ends with exactly what it asked for, whatever happens on the way", (context) => {
  playSeeds(context, runModel, 175);
});
