/** What an error code means for people. The documentation page of errors is made from this registry. */
export interface ErrorCode {
  /** What happened, in one sentence. */
  readonly meaning: string;
  /** The usual cause. */
  readonly cause: string;
  /** What to do about it. */
  readonly mend: string;
}

/** Every error that xdskit raises, logs or answers with. */
export const errorCodes = {
  XDSKIT_FILE_UNREADABLE: {
    meaning: "A configuration file or folder could not be read.",
    cause:
      "It does not exist, its permissions forbid it, it is larger than the limit, or a symbolic link leads in a circle.",
    mend: "Look at the path and the reason in the message; the last good configuration stays until it can be read.",
  },
  XDSKIT_SYNTAX: {
    meaning: "A file is not well-formed YAML, JSON, text format or protobuf.",
    cause: "A typing error, or a file that was cut off while it was written.",
    mend: "Mend the line that the message names. Write files under another name and rename them into place.",
  },
} as const satisfies Record<string, ErrorCode>;

export type XdskitErrorCode = keyof typeof errorCodes;
