// What the design system's own components say, such as the pages of a list. Only pages with the shell need it.
import type { I18nProviderProps } from "@cloudscape-design/components/i18n";
import type { Language } from "../../../shared/domain/languages.ts";
import { language } from "./language.ts";

type ComponentText = I18nProviderProps.Messages;

const FILES: Record<Language, () => Promise<{ default: ComponentText }>> = {
  en: () => import("@cloudscape-design/components/i18n/messages/all.en"),
  de: () => import("@cloudscape-design/components/i18n/messages/all.de"),
};

/** Empty until the shell is rendered. */
export let componentText: readonly ComponentText[] = [];

export async function loadComponentText(): Promise<void> {
  componentText = [(await FILES[language]()).default];
}
