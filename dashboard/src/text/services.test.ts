import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FindingJson, GroupResource } from "../api/types.js";
import { otherFindings, servicesOf } from "./services.js";

const row = (name: string, health: GroupResource["health"], file = "Service shop/cart"): GroupResource => ({
  type: "endpoint",
  typeUrl: "t",
  name,
  version: "1",
  layer: "kubernetes",
  summary: "",
  health,
  uses: 0,
  usedBy: 0,
  dangling: [],
  unused: false,
  where: { file },
});
const finding = (file: string | undefined): FindingJson => ({
  code: "XDSKIT_ANNOTATION",
  severity: "warning",
  message: "wrong",
  ...(file === undefined ? {} : { file }),
});

describe("Services of a cluster", () => {
  it("have the ports that load assignments name, and what is wrong comes first", () => {
    const rows = [
      row("a.shop:80", "well", "Service shop/a"),
      row("b.shop:80", "well", "Service shop/b"),
      // The same for clients of a zone.
      row("b.shop:80", "well", "Service shop/b"),
      row("cart.shop:80", "well"),
      row("cart.shop:81", null),
      row("of a file", "well", "cluster.yaml"),
    ];
    const services = servicesOf(rows, [finding("Service shop/b"), finding("Service shop/bb")]);
    assert.deepEqual(
      services.map(({ name, ports, findings }) => [name, ports.map((one) => one.name), findings.length]),
      [
        ["cart", ["cart.shop:80", "cart.shop:81"], 0],
        ["b", ["b.shop:80"], 1],
        ["bb", [], 1],
        ["a", ["a.shop:80"], 0],
      ],
    );
  });

  it("are there without ports too, if something is wrong with them", () => {
    const files = ["Service shop/a", "Service shop/external", "Service bank/refused", "GRPCRoute shop/r", undefined];
    const rows = [row("a.shop:80", "well", "Service shop/a")];
    const services = servicesOf(rows, files.map(finding), "sh");
    assert.deepEqual(
      services.map(({ namespace, name, ports, findings }) => [namespace, name, ports.length, findings.length]),
      [
        ["shop", "a", 1, 1],
        ["shop", "external", 0, 1],
      ],
    );
  });

  it("stand beside other objects of the namespace, and what is about none", () => {
    const files = ["Service shop/a", "ConfigMap shop/edge/a.yaml", "GRPCRoute bank/r", undefined];
    const found = otherFindings(files.map(finding), "shop").map(({ file }) => file);
    assert.deepEqual(found, ["ConfigMap shop/edge/a.yaml", undefined]);
  });
});
