import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { createClient } from "@xdskit/client";
import { stringify } from "yaml";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { keepAnswers, mustNotTell } from "./dashboard/answers.js";
import { type DashboardPage, mustBeAccessible, mustFit, openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopFiles } from "./dashboard/shop.js";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** As Envoy says it: which field of which message is wrong. */
const words =
  "Proto constraint validation failed (ClusterLoadAssignmentValidationError.Endpoints[1]: embedded message failed " +
  "validation | caused by LocalityLbEndpointsValidationError.LoadBalancingWeight: value must be less than 9)";

test("the dashboard's page of a node that rejects, over mutual TLS", { timeout: 240_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const put = async (name: string, text: string) => {
    await writeFile(join(scene.directory, name), text);
    return join(scene.directory, name);
  };
  const [servers, clients] = [createAuthority("of servers"), createAuthority("of clients")];
  // It expires in less than a day.
  const own = servers.issueFor("xds.test", [-30, 0.9]);
  await put("server.pem", own.certificate);
  await put("server.key", own.key);
  await put("clients.pem", clients.certificate);
  const settings = await put("settings.yaml", "tls: { cert: server.pem, key: server.key, client_ca: clients.pem }\n");
  const files = shopFiles();
  const folder = await createConfigFolder(scene.directory, files);
  const state = join(scene.directory, "state");
  const server = await serve(scene, folder.path, { args: ["--settings", settings, "--state", state] });
  const shown = clients.issue("edge-1", "DNS:edge-1.shop.test");
  let takesSecrets = true;
  const client = createClient({
    servers: [
      {
        kind: "grpc",
        address: server.grpc,
        tls: {
          caFile: await put("servers.pem", servers.certificate),
          certificateFile: await put("edge.pem", shown.certificate),
          keyFile: await put("edge.key", shown.key),
          serverName: "xds.test",
        },
      },
    ],
    node: { id: "edge-1", cluster: "edge" },
    checks: {
      endpoint: (message) => {
        const { endpoints } = message as ClusterLoadAssignment;
        return endpoints.some(({ loadBalancingWeight = 0 }) => loadBalancingWeight >= 9) ? words : undefined;
      },
      secret: () => (takesSecrets ? undefined : "it cannot be loaded"),
    },
  });
  scene.onEnd(() => client.close());
  for (const name of ["cart", "users"]) client.watch("endpoint", name, { onChanged() {} });
  client.watch("cluster", "*", { onChanged() {} });
  const api = async <T>(path: string) => (await (await fetch(`http://${server.admin}/api/v1/${path}`)).json()) as T;
  const isIn = (wanted: string) => async () =>
    (await api<{ readonly state?: string }>("nodes/edge-1/summary")).state === wanted;
  await eventually("the node", isIn("synced"), { withinMs: 60_000 });

  const [cart, ...others] = files["endpoints.yaml"] ?? [];
  assert.ok(cart !== undefined);
  const [first, second] = cart.endpoints as readonly object[];
  const bad = { ...cart, endpoints: [first, { ...second, load_balancing_weight: 9 }] };
  const text = stringify({ resources: [bad, ...others] }, { aliasDuplicateObjects: false });
  await folder.putText("endpoints.yaml", text);
  const line = text.split("\n").indexOf("        load_balancing_weight: 9") + 1;
  assert.ok(line > 20, text.slice(0, 2_000));
  await eventually("the rejection", isIn("rejected"), { withinMs: 60_000 });
  const dashboard = await openDashboard(browser, server.admin);
  const { page, goTo, faults } = dashboard;

  await scene.step("says who its certificate says that it is, and until when", async () => {
    await goTo("node/edge-1");
    const facts = page.locator(".facts > div", { hasText: "Certificate" });
    await facts.getByText("CN=edge-1").waitFor();
    await facts.getByText("DNS:edge-1.shop.test").waitFor();
    const { certificate } = await api<{ readonly certificate: { readonly validTo: string } }>("nodes/edge-1/summary");
    assert.equal(await facts.locator("time").getAttribute("datetime"), certificate.validTo);
  });

  await scene.step(
    "says which revision it runs, and which one it was sent, each a link to what that changed",
    async () => {
      const facts = page.locator(".facts > div", { hasText: "Revision" });
      assert.match(await facts.innerText(), /before \S+ #2$/);
      const told = page.locator(".timeline li.moment-rejected .moment-text").first();
      assert.match(await told.innerText(), /^endpoint, \S+ #2: xDS response .*Proto constraint validation failed/);
      await page.locator(".timeline li.moment-acknowledged a", { hasText: "#1" }).first().waitFor();
      await told.getByRole("link").click();
      await page.waitForURL(/#\/history\/[\w-]{22}$/);
      await goTo("");
      const cell = page.locator(".node-row .cell-revision", { hasText: "before" });
      assert.match(await cell.innerText(), /^before #2$/);
      await goTo("node/edge-1");
    },
  );

  await scene.step("copies a command that reaches the server over TLS", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy command", exact: true }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const tls = "--tls-ca FILE --tls-cert FILE --tls-key FILE";
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    assert.equal(copied, `xdskit status edge-1 --server ${server.grpc} ${tls}`);
  });

  await scene.step("links the words of its NACK to the line of the file that caused it", async () => {
    await page.locator("blockquote").getByText("LoadBalancingWeight: value must be less than 9").waitFor();
    const link = page.locator(".rejection a", { hasText: "endpoints.yaml" });
    assert.match(await link.innerText(), new RegExp(`endpoints\\.yaml:${line}:\\d+$`));
    await page.locator(".split .marked", { hasText: "load_balancing_weight: 9" }).waitFor();
    await link.click();
    await page.waitForURL(/config\/all\/endpoint\/cart\?field=/);
    const marked = page.locator(".line.marked", { hasText: "load_balancing_weight: 9" });
    await marked.getByText("◀ this field").waitFor();
    await eventually("it is scrolled to", () => isOnScreen(dashboard, ".line.marked"));
  });

  await scene.step("shows what runs beside what should run, without scrolling", async () => {
    await goTo("node/edge-1/endpoint/cart");
    await page.locator(".split .line.removed", { hasText: "load_balancing_weight: 2" }).waitFor();
    const [runs, should] = await besideEachOther(dashboard);
    assert.ok(runs.top === should.top && should.left >= runs.right, JSON.stringify([runs, should]));
    assert.ok(runs.top < 620, `${runs.top} px below the top`);
    for (const kind of ["removed", "added"]) assert.ok(await isOnScreen(dashboard, `.split .line.${kind}`), kind);
    const one = async (name: string) => (await page.locator(name).first().boundingBox())?.y;
    assert.equal(await one(".split .line.removed"), await one(".split .line.added"), "in one row");
    await page.getByRole("button", { name: /^Show \d+ equal lines more$/ }).click();
    await page.locator(".split-side", { hasText: "It runs" }).getByText("cluster_name: cart").waitFor();
    await mustBeAccessible(dashboard, "beside each other");
  });

  await scene.step("tells what Envoy's documentation says of a field, to the mouse and to the keyboard", async () => {
    const card = page.getByRole("tooltip");
    await page.locator(".split .line.added a.key").hover();
    await card.getByText(/^Optional: Per priority\/region\/zone\/sub_zone weight/).waitFor();
    await card.getByText("Must be: ≥ 1").waitFor();
    await page.mouse.move(5, 5);
    await card.waitFor({ state: "detached" });
    await page.locator('.split a.key[tabindex="0"]').first().focus();
    await card.getByText("Name of the cluster.").waitFor();
    assert.match(
      (await page.evaluate<string | null>("document.activeElement.href")) ?? "",
      /^https:\/\/www\.envoyproxy/,
    );
    await mustBeAccessible(dashboard, "a field's card");
    await page.keyboard.press("ArrowDown");
    await card.getByText("List of endpoints to load balance to.").waitFor();
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  });

  await scene.step("changes between relative and exact times", async () => {
    const time = page.locator(".timeline time").first();
    assert.match(await time.innerText(), /ago$|^now$/);
    await page.getByRole("heading", { name: "edge-1" }).click();
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Exact times" }).waitFor();
    assert.match(await time.innerText(), /\d{4}/);
    await page.getByRole("button", { name: "Exact times" }).click();
    assert.match(await time.innerText(), /ago$|^now$/);
  });

  await scene.step("fits a screen of 360 px, one content below the other", async () => {
    const small = await openDashboard(browser, server.admin, { viewport: { width: 360, height: 740 } });
    await small.goTo("node/edge-1/endpoint/cart");
    await small.page.locator(".split .line.added").first().waitFor();
    const [runs, should] = await besideEachOther(small);
    assert.ok(runs.left === should.left && should.top >= runs.bottom, JSON.stringify([runs, should]));
    await mustFit(small, "a node");
    await mustBeAccessible(small, "a node on 360 px");
    assert.deepEqual(small.faults, []);
    await small.page.context().close();
  });

  await scene.step("is one problem with a link of its own, and so is the server's certificate", async () => {
    await goTo("problems");
    await page.getByRole("heading", { name: "edge-1 rejects endpoint cart" }).waitFor();
    const card = page.locator(".problem", { hasText: "The server's certificate expires soon" });
    assert.match(await card.locator("time", { hasText: /^in 2\d h$/ }).innerText(), /^in 2[01] h$/);
    await card.getByRole("link", { name: "The server's certificate expires soon" }).click();
    await page.waitForURL(/#\/problems\/certificate/);
    await page.reload();
    await page.locator('.problem[aria-current="true"]', { hasText: "expires soon" }).waitFor();
    const metrics = await (await fetch(`http://${server.admin}/metrics`)).text();
    const [, after] =
      /^xdskit_certificate_not_after_timestamp_seconds\{file="[^"]*server\.pem"\} (\S+)$/m.exec(metrics) ?? [];
    const hours = (Number(after) - Date.now() / 1_000) / 3_600;
    assert.ok(hours > 20 && hours < 22, `${hours} hours`);
  });

  await scene.step("leads from the newest revisions to the oldest, page by page", async () => {
    for (let round = 1; round <= 52; round += 1) {
      const upsert = [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: `made-${round}` }];
      const answer = await changeByApi(server, { upsert, message: `round ${round}` });
      assert.equal(answer.status, 200);
    }
    await goTo("history?layer=api");
    const rows = page.locator(".history-row");
    await page.locator("td.words", { hasText: /^round 52/ }).waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole("button", { name: "Older revisions" }).click();
    await page.getByRole("link", { name: "api 1", exact: true }).waitFor();
    assert.equal(await rows.count(), 52);
    await page.getByRole("button", { name: "Older revisions" }).waitFor({ state: "detached" });
    const { revisions } = await api<{ readonly revisions: readonly { readonly id: string }[] }>(
      "revisions?layer=api&limit=1000",
    );
    const links = await rows.getByRole("link").evaluateAll((all) => all.map((one) => String(one)));
    assert.deepEqual(
      links.map((link) => decodeURIComponent(link.slice(link.lastIndexOf("/") + 1))),
      revisions.map(({ id }) => id),
    );
    assert.deepEqual([...faults], []);
  });

  await scene.step("is told no secret, whatever is looked at, changed, rejected or refused", async () => {
    const authority = createAuthority("of the shop");
    const [runs, rejected, another, pasted] = [1, 2, 3, 4].map(() => authority.issue("shop.test")) as [
      ...[Certificate, Certificate, Certificate, Certificate],
    ];
    const stateOf = async () => (await api<{ readonly state: string }>("nodes/edge-1/resources/secret/shop")).state;
    const told = await keepAnswers(dashboard);
    const hidden = () => page.locator("main, dialog").getByText("[redacted]").first().waitFor();
    client.watch("secret", "shop", { onChanged() {} });
    await folder.put({ "secrets.yaml": [tlsSecret("shop", runs)] });
    await eventually("the secret", async () => (await stateOf()) === "synced");
    await goTo("node/edge-1/secret/shop");
    await hidden();
    takesSecrets = false;
    await folder.put({ "secrets.yaml": [tlsSecret("shop", rejected)] });
    await eventually("the rejection", async () => (await stateOf()) === "rejected");
    await page.locator("blockquote").getByText("it cannot be loaded").waitFor();
    await hidden();
    await goTo("config/all/secret/shop");
    await hidden();
    await goTo(`config?contents=true&q=${encodeURIComponent(rejected.key.split("\n")[1]?.slice(0, 30) ?? "")}`);
    await page.getByText("No resource fits.").waitFor();

    const { revisions } = await api<{ readonly revisions: readonly { readonly id: string }[] }>(
      "revisions?layer=folder",
    );
    const [newest = "", before = ""] = revisions.map(({ id }) => id);
    await goTo(`history?from=${before}&to=${newest}`);
    await hidden();
    await goTo(`history/${before}`);
    await hidden();
    await page.getByRole("button", { name: "Roll back to this" }).click();
    await page
      .getByRole("dialog")
      .getByText(/It changes/)
      .waitFor();
    await hidden();
    await page.keyboard.press("Escape");

    await goTo("change");
    const look = async (secret: ResourceText) => {
      await page.locator("textarea").fill(stringify(secret));
      await page.getByRole("button", { name: "What would it do?" }).click();
    };
    await look(tlsSecret("pasted", { ...pasted, key: another.key }));
    await page.locator(".failure", { hasText: "is not the key of" }).waitFor();
    await look(tlsSecret("pasted", pasted));
    await page.locator(".changed .line.added", { hasText: "[redacted]" }).waitFor();
    await page.getByPlaceholder("Why?").fill("a certificate");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("heading", { name: /api \d+/ }).waitFor();
    await hidden();
    // A file is refused, and another one cannot even be read.
    await folder.put({ "refused.yaml": [tlsSecret("refused", { ...runs, key: another.key })] });
    const odd = `"@type": ${secretType}\nname: odd\ntls_certificate:\n  private_key: ${JSON.stringify(runs.key)}\n`;
    await folder.putText("odd.yaml", odd);
    for (const place of ["change", "problems"]) {
      await goTo(place);
      for (const file of ["refused.yaml", "odd.yaml"]) await page.getByText(file).first().waitFor();
    }
    await goTo("fleet");
    await page.getByText("1 node shown").waitFor();

    const all = await told();
    const paths = [/nodes\/edge-1\/resources\/secret/, /groups\/all\/resources\/secret/, /revisions\//, /diff\?/];
    for (const path of [...paths, /rollback\?/, /changes\?/])
      assert.ok(
        all.some((one) => path.test(one.path) && one.text.includes("[redacted]")),
        String(path),
      );
    assert.ok(all.some(({ path }) => path === "event"));
    // A certificate is told, and would be missed: what was kept is all of it.
    assert.throws(() => mustNotTell([runs.certificate], all));
    const keys = [runs, rejected, another, pasted, own, shown].map(({ key }) => key);
    mustNotTell(keys, all);
    assert.deepEqual([...faults], []);
  });
});

const secretType = typeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

function tlsSecret(name: string, { certificate, key }: Pick<Certificate, "certificate" | "key">): ResourceText {
  const [chain, own] = [certificate, key].map((text) => ({ inline_string: text }));
  return { "@type": secretType, name, tls_certificate: { certificate_chain: chain, private_key: own } };
}

/** The places of the two contents, in pixels of the window. */
async function besideEachOther({ page }: DashboardPage) {
  const boxes = await page.locator(".split-side").all();
  const places = await Promise.all(boxes.map((box) => box.boundingBox()));
  return places.map((box) => {
    assert.ok(box !== null);
    return { left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height };
  }) as unknown as readonly [Place, Place];
}

interface Place {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

async function isOnScreen({ page }: DashboardPage, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
