import { render } from "preact";

const place = document.getElementById("app");
if (place !== null) render(<h1>xdskit</h1>, place);
