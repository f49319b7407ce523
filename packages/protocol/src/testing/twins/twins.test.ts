import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runTwins } from "./twins-run.js";

test("a stream among equal streams does what it would do alone", (context) => {
  playSeeds(context, runTwins, 30);
});
