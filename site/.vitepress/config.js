import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { contents } from "../../scripts/contents.mjs";
import { writeLibrary } from "./library.js";

const json = (file) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
const { version } = json("packages/xdskit/package.json");
const repository = json("package.json").repository.url.replace(/^git\+|\.git$/g, "");

/** What the repository has as reports is on the site a reference with comments. VitePress does not know its pages. */
const library = { file: "../reports/api", folder: "packages/" };

/** Where a page leads: a page of the site, the reference of the library, or a file of the repository. */
function target(page) {
  if (page === library.file) return { link: `/${library.folder}`, target: "_self" };
  return { link: page.startsWith("../") ? `${repository}/blob/main/${page.slice(3)}` : `/${page.slice(0, -3)}` };
}

/** As GitHub makes it, and `packages/xdskit/src/docs.test.ts` checks it: VitePress checks pages, and no headings. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** Links of a page that leave docs/ lead to the repository. */
function leaveToRepository(markdown) {
  markdown.core.ruler.push("leave-to-repository", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href === null || /^(?:[a-z]+:|#|\/)/.test(href)) continue;
      const folder = posix.dirname(env.relativePath);
      const path = posix.join(folder, href);
      if (path === library.file) {
        token.attrSet("href", `./${posix.relative(folder, library.folder)}/`);
        token.attrSet("target", "_self");
      } else if (path.startsWith("../")) token.attrSet("href", `${repository}/blob/main/${path.slice(3)}`);
    }
  });
}

/** Vue takes an image for a file of the page only if its path says so. */
function picturesBesideThePage(markdown) {
  const html = markdown.renderer.rules.html_block;
  markdown.renderer.rules.html_block = (...args) => html(...args).replace(/\b(src|srcset)="images\//g, '$1="./images/');
}

/** The pages are outside of this folder, and find no Vue there; what is built of them finds it at its place. */
const vueOfThisFolder = {
  name: "vue-of-this-folder",
  config: (_, { isSsrBuild }) =>
    isSsrBuild ? { build: { rollupOptions: { external: ["vue", "vue/server-renderer"] } } } : {},
};

export default {
  title: "xdskit",
  description: "xDS for TypeScript: management server, client, relay, tools",
  srcDir: "../docs",
  rewrites: { "README.md": "index.md" },
  cleanUrls: true,
  markdown: {
    anchor: { slugify },
    // Braces are part of a path, as in `GET /api/v1/leases/{id}`.
    attrs: { disable: true },
    config(markdown) {
      leaveToRepository(markdown);
      picturesBesideThePage(markdown);
    },
  },
  buildEnd: ({ outDir }) => writeLibrary(join(outDir, library.folder), repository),
  vite: { plugins: [vueOfThisFolder] },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Manual", link: "/" },
      { text: `v${version}`, link: `${repository}/blob/main/CHANGELOG.md` },
    ],
    sidebar: contents().map(({ section, pages }) => ({
      text: section,
      collapsed: true,
      items: pages.map(({ page, title }) => ({ text: title, ...target(page) })),
    })),
    socialLinks: [{ icon: "github", link: repository }],
    outline: [2, 3],
  },
};
