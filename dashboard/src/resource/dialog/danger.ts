// The color of a button that destroys something.
import type { ButtonProps } from "@cloudscape-design/components/button";

/** White on it has a contrast of 6 to 1, in light and dark alike. */
const RED = { default: "#c40b0b", hover: "#a30000", active: "#870000" };
const WHITE = { default: "#ffffff", hover: "#ffffff", active: "#ffffff" };

export const DANGER: ButtonProps.Style = { root: { background: RED, borderColor: RED, color: WHITE } };
