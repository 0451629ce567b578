// Every page, and every menu and dialog that opens on it, is accessible to everyone on the widest screen.
import { testOpened } from "./opened.ts";

testOpened(2560);
