import { test } from "node:test";
import { runMixedTwins } from "./testing/mixed-twins-run.js";
import { playSeeds } from "./testing/play-seeds.js";

test("a stream among others, like it or not, does what it would do with those of its node alone", (context) => {
  playSeeds(context, runMixedTwins, { usual: 40, asked: process.env.TWINS_RUNS });
});
