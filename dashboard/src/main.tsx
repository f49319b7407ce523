import { render } from "preact";
import { startEvents } from "./api/events.js";
import { App } from "./app.js";
import { applyTheme } from "./parts/theme.js";
import "./style/base.css";
import "./style/page.css";
import "./style/parts.css";
import "./style/fleet.css";
import "./style/views.css";

applyTheme();
startEvents();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
