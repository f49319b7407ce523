import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createRegistry } from "@xdskit/api";
import { createServer } from "@xdskit/server";
import { createApp } from "../create-admin-api.js";

const { app } = createApp({ server: createServer(), registry: createRegistry(), layers: [], version: "1.2.3" });

interface Described {
  readonly responses: object;
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly default?: number } }[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

describe("the OpenAPI document", () => {
  it("is one of version 3.1, without errors", async () => {
    const response = await app.request("/api/v1/openapi.json");
    assert.equal(response.status, 200);
    const document = (await response.json()) as Document;
    assert.equal(document.openapi, "3.1.0");
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as never);
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(validator.version, "3.1");
    assert.doesNotThrow(() => validator.resolveRefs());
  });

  it("is made once: each making would leave something behind, and hold up others", async () => {
    const kept: number[] = [];
    for (let asked = 0; asked < 3; asked += 1) {
      await (await app.request("/api/v1/openapi.json")).json();
      kept.push(app.openAPIRegistry.definitions.length);
    }
    assert.deepEqual(new Set(kept).size, 1, kept.join());
  });

  it("describes every route", async () => {
    const { paths } = (await (await app.request("/api/v1/openapi.json")).json()) as Document;
    const described = new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
      ),
    );
    const routes = app.routes.filter(({ path }) => path !== "/*").map(({ method, path }) => `${method} ${path}`);
    assert.ok(routes.length >= 8);
    assert.deepEqual(
      routes.filter((route) => !described.has(route)),
      [],
    );
  });

  it("has a page of at most 1,000 items of each list that may be long, if nobody says how many", async () => {
    const { paths } = (await (await app.request("/api/v1/openapi.json")).json()) as Document;
    for (const list of ["revisions", "layers/{layer}/resources", "nodes", "rollouts", "fleet/nodes"]) {
      const parameters = paths[`/api/v1/${list}`]?.get?.parameters ?? [];
      const { schema } = parameters.find(({ name }) => name === "limit") ?? assert.fail(list);
      assert.ok(schema.default !== undefined && schema.default <= 1_000, list);
      assert.ok(
        parameters.some(({ name }) => name === "after" || name === "offset"),
        list,
      );
    }
  });

  it("says of every answer but pages of text what is in it", async () => {
    const { paths } = (await (await app.request("/api/v1/openapi.json")).json()) as Document;
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        assert.ok(Object.keys(responses).length > 0, `${method} ${path}`);
        for (const [status, answer] of Object.entries(responses))
          assert.ok("content" in answer, `${method} ${path} ${status}`);
      }
    }
  });
});
