// What this browser remembers of how the user wants the dashboard: its language, and the zone of its times.
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { chooseLanguage, chosenLanguage } from "../messages/language.ts";
import { LANGUAGES } from "../../../shared/domain/languages.ts";
import { text } from "../messages/text.ts";
import { reload } from "../app/reload.ts";
import { Section } from "../resource/page/section.tsx";
import { chooseZone, useZone, ZONES } from "../resource/words/moment.ts";

/** Those who cannot read the page's language find their own. */
const NATIVE_NAMES = { en: "English", de: "Deutsch" } as const;

export function Preferences() {
  const say = text.settings.preferences;
  const zone = useZone();
  const labels = { local: say.local(Intl.DateTimeFormat().resolvedOptions().timeZone), utc: say.utc };
  return (
    <Section title={say.title}>
      <SpaceBetween size="l">
        <FormField label={say.language} description={say.languageAbout}>
          <RadioGroup
            value={chosenLanguage() ?? ""}
            items={[
              { value: "", label: say.browsers },
              ...LANGUAGES.map((value) => ({ value, label: <span lang={value}>{NATIVE_NAMES[value]}</span> })),
            ]}
            onChange={({ detail }) => {
              chooseLanguage(LANGUAGES.find((each) => each === detail.value));
              reload();
            }}
          />
        </FormField>
        <FormField label={say.zone} description={say.remembered}>
          <RadioGroup
            value={zone}
            items={ZONES.map((value) => ({ value, label: labels[value] }))}
            onChange={({ detail }) => {
              const next = ZONES.find((each) => each === detail.value);
              if (next !== undefined) chooseZone(next);
            }}
          />
        </FormField>
      </SpaceBetween>
    </Section>
  );
}
