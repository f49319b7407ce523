import { defaultClientConditions, defineConfig } from "vite";

/** Where `npm run dev -w dashboard` finds the API. */
const api = process.env.XDSKIT_ADMIN ?? "http://127.0.0.1:19000";

export default defineConfig({
  // Relative: the page also works below a path of a proxy.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // The sources of `@xdskit/admin`: it is compiled after this.
  resolve: { conditions: ["@xdskit/source", ...defaultClientConditions] },
  logLevel: "warn",
  build: {
    // What the published package must say about what it holds.
    license: { fileName: "licenses.md" },
    // The admin listener hands it out from there (packages/admin/src/dashboard-files.ts).
    outDir: "../packages/admin/dist/dashboard",
    emptyOutDir: true,
    target: "es2022",
    // Nothing inside of another file: the policy of the page allows files of its own only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": { target: api, changeOrigin: true } } },
});
