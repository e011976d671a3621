// Loads the console's behaviours; each stands alone and is bound by data attributes.
import "./columns.js";
import "./confirm.js";
import "./copy.js";
import "./filters.js";
import "./json.js";
import "./keys.js";
import "./approvals.js";
import "./live.js";
import "./menus.js";
import "./palette.js";
import "./picks.js";
import "./source.js";
import "./times.js";
import "./toast.js";
