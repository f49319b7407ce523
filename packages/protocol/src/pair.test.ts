import { test } from "node:test";
import { runPair } from "./testing/pair/pair-run.js";
import { playSeeds } from "./testing/play-seeds.js";

test("a client and a server agree in the end, whatever happens on the way, and nothing is told twice", (context) => {
  playSeeds(context, runPair, { usual: 600, asked: process.env.PAIR_RUNS });
});
