import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runOrder } from "./order-run.js";

test("at no moment does a client use a resource that names one which it was never sent or has lost", (context) => {
  playSeeds(context, runOrder, 50);
});

test("streams of one node do not wake each other endlessly while one has a rejected resource", () => {
  runOrder(1444, 60, new Set(), () => {});
});

test("a resource that only stays for now comes with everything that it names, even for a client that first asks for it then", () => {
  runOrder(2437, 60, new Set(), () => {});
  runOrder(3610, 60, new Set(), () => {});
});

test("contents of a rejected response that a client may have taken count as used, even when it rejects the next one", () => {
  runOrder(1832, 60, new Set(), () => {});
});
