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
  XDSKIT_SETTINGS_INVALID: {
    meaning: "The settings file (xdskit.yaml) has an unknown key or a wrong value.",
    cause: "A typing error, a setting of a newer version, or a resource file that was named xdskit.yaml.",
    mend: "Correct the line that the message names; docs/settings.md lists every setting.",
  },
  XDSKIT_USAGE: {
    meaning: "The command line is wrong.",
    cause: "An unknown command or option, or a value that the option does not take.",
    mend: "Look at `xdskit COMMAND --help`.",
  },
  XDSKIT_ADDRESS_IN_USE: {
    meaning: "An address to listen on could not be used.",
    cause: "Another program listens there already, often another xdskit; or the host is not one of this machine's.",
    mend: "Stop the other program, or choose another address with --grpc or --admin. Port 0 picks a free one.",
  },
  XDSKIT_DANGLING_REFERENCE: {
    meaning: "A resource names another one that does not exist in its group.",
    cause: "A typing error in a name, or a file that is missing. A route to a cluster that is not there answers 503.",
    mend: "Correct the name or add the resource. If another server provides it, ignore the warning.",
  },
} as const satisfies Record<string, ErrorCode>;

export type XdskitErrorCode = keyof typeof errorCodes;
