// Loads the console's behaviours; each stands alone and is bound by data attributes.
import "./confirm.js";
import "./copy.js";
import "./filters.js";
import "./keys.js";
import "./live.js";
import "./menus.js";
import "./source.js";
import "./times.js";
