import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiClient } from "./api-client.js";
import { ApiError } from "./api-error.js";
import type { RevisionJson } from "./api-types.js";
import { findRevision } from "./find-revision.js";

const ids = ["abcdef-1", "abcdef-2", "abcx", "abcx-longer", "zzzz1111", "1234abcd"];
/** The first three are of the layer `api`, the others of `folder`. */
const revisionOf = (id: string) => {
  const at = ids.indexOf(id);
  return { id, layer: at < 3 ? "api" : "folder", number: at < 3 ? 3 - at : 8 - at } as RevisionJson;
};

/** A server's history of a page for each revision: ids with a common beginning are rare in a real one. */
const client = {
  server: "",
  get: async (
    _: string,
    call: { readonly at?: { readonly id: string }; readonly query?: { readonly after?: string } },
  ) => {
    const id = call.at?.id;
    if (id !== undefined) {
      if (ids.includes(id)) return revisionOf(id);
      throw new ApiError("no such revision", { status: 404, code: "XDSKIT_REVISION_UNKNOWN" });
    }
    const at = ids.indexOf(call.query?.after ?? "") + 1;
    return { revisions: [revisionOf(ids[at] ?? "")], ...(at + 1 < ids.length ? { next: ids[at] } : {}) };
  },
} as unknown as ApiClient;

test("an id, or a beginning that only one id has, leads to the revision, on any page", async () => {
  for (const [text, id] of [
    ["zzzz1111", "zzzz1111"],
    ["zzzz", "zzzz1111"],
    // It is one id and the beginning of another.
    ["abcx", "abcx"],
    ["abcx-", "abcx-longer"],
  ] as const)
    assert.equal((await findRevision(client, text)).id, id);
});

test("a number leads to the revision of its layer, which must be named where several have it", async () => {
  for (const [text, id] of [
    ["1", "abcx"],
    ["#5", "abcx-longer"],
    ["api#3", "abcdef-1"],
    ["folder#3", "1234abcd"],
    // No revision has this number.
    ["1234", "1234abcd"],
  ] as const)
    assert.equal((await findRevision(client, text)).id, id, text);
  await assert.rejects(findRevision(client, "api#9"), /there is no revision "api#9": /);
  await assert.rejects(findRevision(client, "3"), /more than one layer has a revision 3: name one of api#3, folder#3$/);
  await assert.rejects(findRevision(client, "77"), /there is no revision "77"/);
});

test("an ambiguous beginning lists the ids, and an unknown or short one is not found", async () => {
  await assert.rejects(findRevision(client, "abcd"), /more than one revision begins with "abcd": abcdef-1, abcdef-2$/);
  await assert.rejects(findRevision(client, "nowhere"), /there is no revision "nowhere": "xdskit history" lists/);
  await assert.rejects(
    findRevision(client, "zzz"),
    /there is no revision "zzz" \(the beginning .* needs 4 characters\)/,
  );
});
