// The only page of users who must set up a second factor first.
import Alert from "@cloudscape-design/components/alert";
import { Page } from "../app/page.tsx";
import { text } from "../messages/text.ts";
import { SecondFactors } from "../settings/second-factors.tsx";

export default function SetUpPage() {
  const say = text.settings.setUp;
  return (
    <Page title={say.title}>
      <Alert type="info">{say.about}</Alert>
      <SecondFactors />
    </Page>
  );
}
