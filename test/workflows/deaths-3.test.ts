import { deaths } from "./deaths.ts";

deaths({ index: 2, of: 3 });
