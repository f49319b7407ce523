import assert from "node:assert/strict";
import { test } from "node:test";
import { connectToKubernetes, createKubernetesSource, createTokenReview } from "./index.js";

// As a program without types would call them.
const refused = (call: (options: never) => unknown, options: unknown, message: RegExp) =>
  assert.rejects(async () => call(options as never), { code: "XDSKIT_KUBERNETES", message });

test("a wrong option of each call is refused by its name", async () => {
  await refused(
    createKubernetesSource,
    undefined,
    /^createKubernetesSource takes an object, such as .*, not nothing \[/,
  );
  await refused(createKubernetesSource, {}, /^createKubernetesSource: connection is missing \[/);
  await refused(createKubernetesSource, { connection: {} }, /connection must have a function "credentials" \[/);
  const connection = { credentials: () => {}, refused: () => {} };
  await refused(createKubernetesSource, { connection, namespace: [] }, /"namespace"; did you mean "namespaces"/);
  await refused(createTokenReview, {}, /^createTokenReview: connection is missing/);
  await refused(createTokenReview, { connection }, /^createTokenReview: failed is missing \[/);
  await refused(connectToKubernetes, { kubeconfg: "a" }, /"kubeconfg"; did you mean "kubeconfig"/);
});
