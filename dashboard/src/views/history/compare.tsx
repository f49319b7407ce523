import { useState } from "preact/hooks";
import type { RevisionJson } from "../../api/types.js";
import { go, linkTo } from "../../router.js";
import { findRevision } from "./find-revision.js";

/** The two revisions that are to be compared, as somebody types or chooses them. */
export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** Compares any two revisions of a layer. Those of the list can be chosen, older ones be typed. */
export function Compare({
  pair,
  change,
  listed,
}: {
  readonly pair: Pair;
  change(pair: Pair): void;
  readonly listed: readonly RevisionJson[];
}) {
  const [problem, setProblem] = useState("");
  const compare = async () => {
    try {
      const texts = [pair.from, pair.to];
      const found = await Promise.all(texts.map((text) => findRevision(text, listed)));
      const unknown = texts.filter((_, index) => found[index] === undefined);
      const [a, b] = found;
      if (unknown.length > 0) setProblem(`There is no revision ${unknown.join(" and no ")}.`);
      else if (a?.layer !== b?.layer) setProblem("These are of two layers: choose two of one layer.");
      else go(linkTo("history", [], { from: a?.id, to: b?.id }));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const field = (label: string, key: keyof Pair) => (
    <label class="select">
      <span>{label}</span>
      <input
        list="revisions"
        placeholder="folder 12, or its id"
        value={pair[key]}
        onInput={({ currentTarget }) => {
          setProblem("");
          change({ ...pair, [key]: currentTarget.value });
        }}
      />
    </label>
  );
  return (
    <form
      class="filters compare"
      aria-label="Compare two revisions"
      onSubmit={(event) => {
        event.preventDefault();
        void compare();
      }}
    >
      {field("Compare", "from")}
      {field("with", "to")}
      <datalist id="revisions">
        {listed.map(({ id, layer, number, message }) => (
          <option key={id} value={`${layer} ${number}`}>
            {message}
          </option>
        ))}
      </datalist>
      <button type="submit" disabled={pair.from.trim() === "" || pair.to.trim() === ""}>
        Compare
      </button>
      <span class="missing" role="status">
        {problem}
      </span>
    </form>
  );
}
