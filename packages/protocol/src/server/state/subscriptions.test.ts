import assert from "node:assert/strict";
import { test } from "node:test";
import { NameSet } from "../../model/names/name-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { plainType } from "../../testing/plain-resource.fixture.js";
import { type DeltaSubscription, type DeltaSubscriptionChange, nextDeltaSubscription } from "./delta-subscription.js";
import { nextSotwSubscription, type SotwSubscription } from "./sotw-subscription.js";

const wildcardType = plainType("listener", { emptyFirstRequest: "wildcard" });
const namedType = plainType("endpoint");

/** `*` and names, as the client would list them. */
function shown({ wildcard, names }: Subscription): string {
  return [...(wildcard ? ["*"] : []), ...[...names].sort()].join(" ");
}

function sotw(type: typeof namedType, api: "v2" | "v3", ...requests: readonly string[]): string[] {
  let subscription: SotwSubscription | undefined;
  return requests.map((names) => {
    subscription = nextSotwSubscription(subscription, nameSet(names), type, api);
    return shown(subscription);
  });
}

function nameSet(names: string): NameSet {
  return NameSet.of(names.split(" ").filter((name) => name !== ""));
}

test("a SotW subscription follows the document's example (rules 38–42)", () => {
  assert.deepEqual(sotw(wildcardType, "v3", "", "* A", "A", ""), ["*", "* A", "A", ""]);
});

test("in SotW, no names after any name mean nothing, and `*` brings the wildcard back (rules 43–46)", () => {
  assert.deepEqual(sotw(wildcardType, "v3", "A", "", "*", "", ""), ["A", "", "*", "", ""]);
  assert.deepEqual(sotw(wildcardType, "v3", "", "", "A"), ["*", "*", "A"]);
});

test("in SotW, other types know `*` but no silent wildcard", () => {
  assert.deepEqual(sotw(namedType, "v3", "", "a", "* a", ""), ["", "a", "* a", ""]);
});

test("in SotW, v2's wildcard stays (rule 50), and v2's names work like v3's", () => {
  assert.deepEqual(sotw(wildcardType, "v2", "", "A", "*", ""), ["*", "*", "*", "*"]);
  assert.deepEqual(sotw(wildcardType, "v2", "A", "", "B"), ["A", "", "B"]);
});

interface Asked {
  readonly plus?: string;
  readonly minus?: string;
}

function delta(type: typeof namedType, api: "v2" | "v3", ...requests: readonly Asked[]): string[] {
  let before: DeltaSubscription | undefined;
  return requests.map(({ plus = "", minus = "" }) => {
    const step: DeltaSubscriptionChange = nextDeltaSubscription(before, nameSet(plus), nameSet(minus), type, api);
    before = step.subscription;
    const pending = [...step.pending].sort().join(" ");
    const dropped = [...step.dropped].sort().join(" ");
    return `${shown(before)} | answers ${pending}${step.everything ? "all" : ""} | drops ${dropped}`;
  });
}

test("a delta subscription follows the document's example (rules 51–55)", () => {
  assert.deepEqual(delta(wildcardType, "v3", {}, { plus: "A" }, { minus: "*" }, { minus: "A" }), [
    "* | answers  | drops ",
    "* A | answers A | drops ",
    "A | answers  | drops ",
    " | answers  | drops A",
  ]);
});

test("in delta, a name that goes while the wildcard stays is answered (rules 97, 98), but a phantom name is not (rule 89)", () => {
  assert.deepEqual(delta(wildcardType, "v3", { plus: "* a" }, { minus: "a b" }), [
    "* a | answers aall | drops ",
    "* | answers a | drops ",
  ]);
});

test("in delta, a name that goes together with the wildcard is not answered", () => {
  assert.deepEqual(delta(wildcardType, "v3", { plus: "* a b" }, { minus: "* a" }).at(-1), "b | answers  | drops a");
});

test("in delta, the subscriptions of a request apply before its unsubscriptions", () => {
  assert.deepEqual(delta(namedType, "v3", { plus: "a b", minus: "b c" }), ["a | answers a | drops b"]);
  assert.deepEqual(delta(wildcardType, "v3", { plus: "*", minus: "*" }), [" | answers  | drops "]);
});

test("in delta, a first request that only unsubscribes is no wildcard (rule 58), nor is an empty one of another type", () => {
  assert.deepEqual(delta(wildcardType, "v3", { minus: "x" }, {}), [" | answers  | drops ", " | answers  | drops "]);
  assert.deepEqual(delta(namedType, "v3", {}), [" | answers  | drops "]);
});

test("in delta, a repeated subscription is answered again (rules 86, 87), and `*` with everything (rule 56)", () => {
  assert.deepEqual(delta(namedType, "v3", { plus: "a" }, { plus: "a" }, { plus: "*" }), [
    "a | answers a | drops ",
    "a | answers a | drops ",
    "* a | answers all | drops ",
  ]);
});

test("in delta, v2's wildcard stays (rule 50)", () => {
  assert.deepEqual(delta(wildcardType, "v2", {}, { minus: "*" }, { plus: "A" }, { minus: "A" }), [
    "* | answers  | drops ",
    "* | answers  | drops ",
    "* A | answers A | drops ",
    "* | answers A | drops ",
  ]);
});
