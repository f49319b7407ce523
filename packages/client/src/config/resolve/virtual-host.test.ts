import assert from "node:assert/strict";
import { test } from "node:test";
import { host } from "../../testing/config-messages.js";
import { virtualHostFor } from "./virtual-host.js";

test("the virtual host of an authority is the exact one, else that of the longest suffix, the longest prefix, or all", () => {
  const choose = (authority: string, ...domains: readonly string[]) =>
    virtualHostFor(
      domains.map((domain) => host(domain, [domain])),
      authority,
    )?.name;
  const all = ["*", "shop.*", "shop.example.*", "*.example", "*.shop.example", "www.shop.example"];
  assert.equal(choose("www.shop.example", ...all), "www.shop.example");
  assert.equal(choose("WWW.Shop.example", ...all), "www.shop.example");
  assert.equal(choose("api.shop.example", ...all), "*.shop.example");
  assert.equal(choose("other.example", ...all), "*.example");
  assert.equal(choose("shop.example.org", ...all), "shop.example.*");
  assert.equal(choose("shop.test", ...all), "shop.*");
  assert.equal(choose("test", ...all), "*");
  assert.equal(choose("test", "shop.*", "*.example"), undefined);
  // The star stands for at least one character, and is no part of the authority.
  assert.equal(choose(".example", "*.example"), undefined);
  assert.equal(choose("shop.", "shop.*"), undefined);
  assert.equal(choose("a-shop.example", "*-shop.example"), "*-shop.example");
  assert.equal(choose("shop.example", "*.shop.example"), undefined);
});

test("the virtual host of an authority may have several domains, and the first of two equal matches is chosen", () => {
  const hosts = [host("a", ["a.example", "*.b.example"]), host("b", ["*.b.example", "b.example"])];
  assert.equal(virtualHostFor(hosts, "x.b.example")?.name, "a");
  assert.equal(virtualHostFor(hosts, "b.example")?.name, "b");
});
