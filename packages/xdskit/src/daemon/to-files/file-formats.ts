/** The formats of files for Envoy; also their file name extensions. */
export const fileFormats = ["json", "pb"] as const;
export type FileFormat = (typeof fileFormats)[number];
