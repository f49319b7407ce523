import { test } from "node:test";
import { playSeeds } from "./testing/play-seeds.js";
import { runTwins } from "./testing/twins-run.js";

test("a stream among others that do the same does what it would do alone", (context) => {
  playSeeds(context, runTwins, { usual: 120, asked: process.env.TWINS_RUNS });
});
