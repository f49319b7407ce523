import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runPair } from "./pair-run.js";

test("a client and a server agree in the end, whatever happens on the way, and nothing is reported twice", (context) => {
  playSeeds(context, runPair, 150);
});
