/** More text than this is not taken from files: a body in YAML may have 4 MiB. */
const mostBytes = 4 * 1024 * 1024;

/** Takes resources from files of this machine. They are read here, and not sent anywhere before somebody asks. */
export function Files({ take }: { take(text: string): void }) {
  const read = async (files: FileList | null) => {
    const texts = await Promise.all([...(files ?? [])].map((file) => (file.size > mostBytes ? "" : file.text())));
    take(texts.join("\n---\n"));
  };
  return (
    <label class="button">
      Take files …
      <input
        class="hidden"
        type="file"
        multiple
        accept=".yaml,.yml,.json"
        onChange={({ currentTarget }) => void read(currentTarget.files)}
      />
    </label>
  );
}
