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
  XDSKIT_DUPLICATE_RESOURCE: {
    meaning: "Two resources of one type have the same name within one layer.",
    cause: "A file was copied and not edited, or an old file still lies beside the new one.",
    mend: "Rename or delete one of the two; the message names both places. To override on purpose, put them into two folders of a group.",
  },
  XDSKIT_FOLDER_MISSING: {
    meaning: "The configuration folder, or a folder of one of its groups, is not there.",
    cause: "A typing error in the path, a volume that is not mounted, or a symbolic link that leads nowhere.",
    mend: "Create the folder, or correct the path. It is picked up as soon as it is there; the last good configuration stays until then.",
  },
  XDSKIT_NO_VALID_FILE: {
    meaning: "The configuration folder holds no file that could be served.",
    cause:
      "It is empty, its files have other extensions than .yaml, .yml, .json, .pb, .pb_text and .textproto, or every one of them has an error.",
    mend: "Correct the files that the messages name, or start with --allow-empty to pick files up when they come.",
  },
  XDSKIT_FILE_EMPTIED: {
    meaning: "A file that held resources has no bytes any more.",
    cause: "It is being written in place, or the program that writes it failed half-way.",
    mend: "Delete the file, or leave `[]` in it, if its resources are to go. Write files under another name and rename them into place.",
  },
  XDSKIT_FOLDER_LIMIT: {
    meaning: "The configuration folder has more files, or deeper folders, than the limit.",
    cause: "The wrong folder was given, or a symbolic link leads out of it into a large tree.",
    mend: "Look at the path in the message; raise the limit if the folder really is so large.",
  },
  XDSKIT_FOLDER_UNSETTLED: {
    meaning: "The configuration folder was replaced again each time while it was read.",
    cause: "A symbolic link is swapped faster than the files behind it can be read.",
    mend: "Swap less often. It is read again by itself; the last good configuration stays until then.",
  },
  XDSKIT_FOLDER_OPTION: {
    meaning: "An option of the folder source has a value that it cannot take.",
    cause: "A folder of a group that is absolute or leads out of the configuration folder, or a time that is negative.",
    mend: "Name folders relative to the configuration folder, without `..`.",
  },
  XDSKIT_WATCH_UNAVAILABLE: {
    meaning: "The operating system refused to watch a folder for changes.",
    cause:
      "The limit of watches is used up (on Linux fs.inotify.max_user_watches or max_user_instances), or the file system cannot be watched.",
    mend: "Raise the limit. Until then changes are found by looking at the files every few seconds.",
  },
  XDSKIT_GROUP_INVALID: {
    meaning: "The settings of a group of nodes are wrong.",
    cause: "A key to match by that does not exist, a name that is used twice, or a group without layers or folders.",
    mend: "Match by id, cluster, locality.region, locality.zone, locality.sub_zone or metadata.<path>, and name at least one folder.",
  },
  XDSKIT_TYPE_NAME_UNKNOWN: {
    meaning: "A type of resources was named that does not exist.",
    cause: "A typing error, or a type of one's own that the server was not given.",
    mend: "Use a name such as cluster, an abbreviation such as cds, or a type URL.",
  },
  XDSKIT_ADDRESS_INVALID: {
    meaning: "An address to listen on is not of the form HOST:PORT.",
    cause: "The port is missing or above 65535, or an IPv6 address stands without brackets.",
    mend: "Write 127.0.0.1:18000, [::1]:18000, or 0.0.0.0:18000 for all interfaces. Port 0 picks a free one.",
  },
  XDSKIT_SERVER_CLOSED: {
    meaning: "A server was used after it was closed.",
    cause: "listen or addSource was called after close.",
    mend: "Create another server.",
  },
} as const satisfies Record<string, ErrorCode>;

export type XdskitErrorCode = keyof typeof errorCodes;
