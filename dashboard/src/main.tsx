import { render } from "preact";
import { startEvents } from "./api/events.js";
import { App } from "./app.js";
import { applyTheme } from "./parts/theme.js";
import "./style/base.css";
import "./style/page.css";
import "./style/parts.css";
import "./style/fleet.css";
import "./style/activity.css";
import "./style/views.css";
import "./style/rollouts.css";
import "./style/palette.css";
import "./style/forced-colors.css";

applyTheme();
startEvents();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
