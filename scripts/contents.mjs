// Writes docs/README.md from the table of contents: npm run contents
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The one table of contents: the page of all pages, the sidebar of the site and a test read it. */
export const contentsFile = new URL("../docs/contents.json", import.meta.url);
/** The page that is made of it. */
export const contentsPageFile = new URL("../docs/README.md", import.meta.url);

/** @returns {readonly { section: string, pages: readonly { page: string, title: string, is: string }[] }[]} */
export function contents() {
  return JSON.parse(readFileSync(contentsFile, "utf8"));
}

/** The page as it should be. */
export function contentsPage() {
  const sections = contents().map(({ section, pages }) => {
    const rows = pages.map(({ page, title, is }) => `- [${title}](${page}): ${is}`);
    return `## ${section}\n\n${rows.join("\n")}\n`;
  });
  return `<!-- Made by \`npm run contents\` from docs/contents.json: change it there. -->

# The manual

${sections.join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(contentsPageFile, contentsPage());
}
