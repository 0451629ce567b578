// The account page: what is the signed-in user's own, and what all users of the account share.
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { Failure } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { May, Missing, useMissing } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { catalog, settings } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { DefaultPolicy } from "./default-policy.tsx";
import { PasswordForm } from "./password.tsx";
import { Preferences } from "./preferences.tsx";
import { Quotas } from "./quotas.tsx";
import { Sessions } from "./sessions.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { SignedIn } from "./signed-in.tsx";

const SecondFactors = lazily(async () => (await import("./second-factors.tsx")).SecondFactors);
const SingleSignOn = lazily(async () => (await import("./single-sign-on.tsx")).SingleSignOn, "people");
const Notifications = lazily(async () => (await import("./notifications.tsx")).Notifications);

export default function Account() {
  return (
    <Page title={text.settings.title}>
      <Header variant="h2">{text.settings.parts.user}</Header>
      <SignedIn />
      <Preferences />
      <OnDemand title={text.settings.notifications.title} description={text.settings.notifications.about}>
        <Notifications />
      </OnDemand>
      <PasswordForm />
      <OnDemand title={text.settings.factors.title} description={text.settings.factors.about}>
        <SecondFactors />
      </OnDemand>
      <Sessions />
      <Shared />
    </Page>
  );
}

/** What all users of the account share. */
function Shared() {
  const missing = useMissing()("settings:read");
  return (
    <>
      <Header variant="h2" description={text.settings.parts.accountAbout}>
        {text.settings.parts.account}
      </Header>
      {missing === undefined ? <SharedSettings /> : <Missing need={missing} />}
    </>
  );
}

function SharedSettings() {
  const stored = useQuery(settings());
  const offered = useQuery(catalog());
  const failed = stored.error ?? offered.error;
  if (stored.data !== undefined && offered.data !== undefined)
    return (
      <SpaceBetween size="l">
        <SettingsForm stored={stored.data.data} offered={offered.data.data.providers} />
        <May needs={["owner"]}>
          <OnDemand title={text.settings.sso.title} description={text.settings.sso.about}>
            <SingleSignOn />
          </OnDemand>
        </May>
        <DefaultPolicy settings={stored.data.data} etag={stored.data.etag} />
        <Quotas quotas={stored.data.data.quotas} />
      </SpaceBetween>
    );
  if (failed === null) return <Spinner size="large" />;
  return <Failure error={failed} retry={() => void Promise.all([stored.refetch(), offered.refetch()])} />;
}
