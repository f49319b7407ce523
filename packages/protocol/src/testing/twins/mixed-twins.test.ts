import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runMixedTwins } from "./mixed-twins-run.js";

test("a stream among others, equal or different, does what it would do with only the streams of its node", (context) => {
  playSeeds(context, runMixedTwins, 8);
});
