import { test } from "node:test";
import { playSeeds } from "../play-seeds.js";
import { runOrder } from "./order-run.js";

test("at no moment a client serves by what names something that it was never sent, or that was taken from it", (context) => {
  playSeeds(context, runOrder, 300);
});

test("streams of one node do not wake each other without end while one holds what the client rejected", () => {
  runOrder(1444, 60, new Set(), () => {});
});

test("what stays for now, for a client that first asks for it then, is there with all that it names", () => {
  runOrder(2437, 60, new Set(), () => {});
  runOrder(3610, 60, new Set(), () => {});
});

test("what a client perhaps took of a response that it rejected counts as used, also when it rejects the next one", () => {
  runOrder(1832, 60, new Set(), () => {});
});
