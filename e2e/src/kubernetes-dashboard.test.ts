import assert from "node:assert/strict";
import { test } from "node:test";
import { mustBeAccessible, mustFit, openDashboard, startBrowser } from "./dashboard/browser.js";
import { createScene } from "./harness/basics/scene.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { rightsIn } from "./harness/peers/kube-objects.js";
import { serve } from "./harness/xdskit/xdskit.js";

const service = (namespace: string, name: string, annotations: object = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace, annotations },
  spec: { ports: [{ name: "grpc", port: 8080 }] },
});
const slice = (namespace: string, of: string, ...addresses: readonly string[]): KubernetesObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${of}-1`, namespace, labels: { "kubernetes.io/service-name": of } },
  addressType: "IPv4",
  ports: [{ name: "grpc", port: 9000 }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});
const badMap: KubernetesObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "edge", namespace: "shop", labels: { serve: "true" } },
  data: { "good.yaml": "[]", "bad.yaml": "no_such: 1\n" },
};

test("the page says which Services have endpoints, and which object is wrong", { timeout: 240_000 }, async (t) => {
  const programs = apiserverPrograms(t);
  if (Object.values(programs).includes("")) return;
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const api = await KubeApiserver.start(scene, programs);
  for (const name of ["shop", "bank"]) await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const [role, binding] = rightsIn("configmaps.yaml");
  assert.ok(role && binding);
  await api.put(
    ...[...rightsIn("services.yaml"), role, binding],
    { ...binding, metadata: { ...binding.metadata, namespace: "bank" } },
    ...[service("shop", "cart"), slice("shop", "cart", "10.0.0.1", "10.0.0.2"), service("shop", "empty")],
    ...[service("shop", "wrong", { "xdskit.github.io/retrys": "1" }), slice("shop", "wrong", "10.0.0.3")],
    service("bank", "vault"),
    // It has no load assignment.
    {
      ...service("bank", "outside", { "xdskit.github.io/retrys": "1" }),
      spec: { type: "ExternalName", externalName: "example.org", ports: [{ port: 443 }] },
    },
  );
  const args = ["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--state", "off"];
  const maps = ["--config-maps", "serve=true", "--namespace", "shop", "--namespace", "bank"];
  const { admin } = await serve(scene, undefined, { args: [...args, ...maps] });
  await api.put(badMap);
  const dashboard = await openDashboard(browser, admin);
  const { page, goTo, faults } = dashboard;
  const rows = page.getByRole("region", { name: "Services" }).locator("tbody tr");
  const row = (name: string) => rows.filter({ has: page.getByRole("rowheader", { name, exact: true }) });

  await scene.step("those without endpoints come first, then those with findings", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByText("5 Services, 2 without endpoints").waitFor();
    const names = await rows.getByRole("rowheader").allInnerTexts();
    assert.deepEqual(names, ["vault", "empty", "outside", "wrong", "cart"]);
    await row("cart").getByText("2 endpoints").waitFor();
    await row("empty").getByText("no endpoints").waitFor();
    await row("wrong")
      .getByText(/retrys: there is no such annotation.*"retries"/)
      .waitFor();
    const others = page.getByRole("region", { name: "Other objects" });
    await others.getByText("ConfigMap shop/edge/bad.yaml:1").first().waitFor();
  });

  await scene.step("one namespace, and only what is without endpoints", async () => {
    await page.getByRole("searchbox", { name: "Namespace" }).fill("shop");
    await page.getByText("3 Services, 1 without endpoints").waitFor();
    await page.getByLabel("Only").selectOption("empty");
    assert.deepEqual(await rows.getByRole("rowheader").allInnerTexts(), ["empty"]);
    await page.getByLabel("Only").selectOption("wrong");
    assert.deepEqual(await rows.getByRole("rowheader").allInnerTexts(), ["wrong"]);
    await page.getByRole("searchbox", { name: "Namespace" }).fill("bank");
    await row("outside").waitFor();
    assert.deepEqual(await rows.getByRole("rowheader").allInnerTexts(), ["outside"]);
    await page.getByLabel("Only").selectOption("empty");
    await row("vault").waitFor();
    await page.getByLabel("Only").selectOption("wrong");
    await page.getByRole("searchbox", { name: "Namespace" }).fill("none");
    await page.getByText("No Service fits.").waitFor();
    assert.equal(await page.getByRole("region", { name: "Other objects" }).count(), 0);
  });

  await scene.step("it follows the cluster, and leads to the endpoints", async () => {
    await goTo("services?namespace=shop");
    await api.put(slice("shop", "empty", "10.0.0.9"));
    await row("empty").getByText("1 endpoint").waitFor();
    await page.getByText("3 Services, 0 without endpoints").waitFor();
    await row("empty").getByRole("link", { name: ":8080" }).click();
    await page.getByText("10.0.0.9:9000").first().waitFor();
    await page.getByText("Service shop/empty").first().waitFor();
  });

  await scene.step("it says of when the picture is while the API server is away", async () => {
    await goTo("services");
    await api.kill();
    await page.getByText("The API server does not answer: what stands here is of").waitFor({ timeout: 60_000 });
  });

  await scene.step("axe finds nothing, and nothing is wider than a screen of 360 px or cut on one of 768", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const shown = await openDashboard(browser, admin, { colorScheme });
      await shown.goTo("services");
      await shown.page.getByText("wrong", { exact: true }).waitFor();
      await mustBeAccessible(shown, colorScheme);
      await shown.page.context().close();
    }
    const small = await openDashboard(browser, admin, { viewport: { width: 360, height: 740 } });
    await small.goTo("services");
    await small.page.getByText("wrong", { exact: true }).waitFor();
    await mustFit(small, "360 px");
    await small.page.setViewportSize({ width: 768, height: 740 });
    await mustFit(small, "768 px");
    await small.page.context().close();
    assert.deepEqual([...faults, ...small.faults], []);
  });
});
