import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { envoyRegistry } from "../registry/registry.js";
import { extensionsFile, formatExtensions, readExtensions } from "./extensions.js";

describe("the list of Envoy's extensions", () => {
  const extensions = readExtensions();

  it("the list is the same after it is read and written again", () => {
    const text = readFileSync(extensionsFile, "utf8");
    const version = /^envoy (\S+)\n/.exec(text)?.[1] ?? assert.fail("no version");
    assert.equal(formatExtensions(version, extensions), text);
  });

  it("the list names messages that the table has", () => {
    const types = new Set(extensions.flatMap((extension) => extension.types));
    assert.ok(types.size > 300, `${types.size} types`);
    // Envoy still lists types of v2 beside those of v3.
    const unknown = [...types].filter(
      (type) => !/\.v[12](alpha\d*)?\./.test(type) && !envoyRegistry().getMessage(type),
    );
    assert.deepEqual(unknown, []);
  });

  it("the list has the categories that a proxy cannot do without", () => {
    const categories = new Set(extensions.map(({ category }) => category));
    for (const category of ["envoy.filters.http", "envoy.filters.network", "envoy.transport_sockets.upstream"])
      assert.ok(categories.has(category), category);
    const router = extensions.find(({ name }) => name === "envoy.filters.http.router");
    assert.deepEqual(router?.types.slice(0, 1), ["envoy.extensions.filters.http.router.v3.Router"]);
  });
});
