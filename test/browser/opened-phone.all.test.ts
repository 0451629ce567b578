// Every page, and every menu and dialog that opens on it, is accessible to everyone on the narrowest phone.
import { testOpened } from "./opened.ts";

testOpened(320);
