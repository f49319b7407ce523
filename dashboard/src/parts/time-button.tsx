import { changeTimeStyle, useTimeStyle } from "./time.js";

/** Times as `3 min ago`, or exact ones. */
export function TimeButton() {
  const isExact = useTimeStyle() === "exact";
  const label = isExact ? "Exact times" : "Relative times";
  return (
    <button type="button" class="icon-button" aria-label={label} title={`${label} (t)`} onClick={changeTimeStyle}>
      <span aria-hidden="true">◷</span>
      <span class="rest">{isExact ? "Exact" : "Relative"}</span>
    </button>
  );
}
