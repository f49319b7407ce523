/** How files for Envoy may be written; also what their names end with. */
export const fileFormats = ["json", "pb"] as const;
export type FileFormat = (typeof fileFormats)[number];
