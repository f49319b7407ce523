export const outputFormats = ["yaml", "json", "jsonl", "name", "wide"] as const;
/** `yaml`: documents. `jsonl`, `json`: events, one a line or indented. `name`, `wide`: one line a resource. */
export type OutputFormat = (typeof outputFormats)[number];
