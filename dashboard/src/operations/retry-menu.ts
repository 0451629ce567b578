// The menu of a failed operation in a list. Its dialogs belong to the pages, which import from here, so the shell provides it.
import { type ComponentType, createContext } from "react";
import type { Failed } from "./words.ts";

export const RetryMenu = createContext<ComponentType<{ operation: Failed }>>(() => null);
