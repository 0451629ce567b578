// The frame around every page: the top bar, the navigation, notifications, and the watch over operations.
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Flashbar from "@cloudscape-design/components/flashbar";
import { I18nProvider } from "@cloudscape-design/components/i18n";
import Spinner from "@cloudscape-design/components/spinner";
import { type ComponentType, Suspense, useEffect, useRef } from "react";
import { Route, Routes, useLocation } from "react-router";
import { RetryMenu } from "../operations/retry-menu.ts";
import { useRunning, useWatch } from "../operations/watch.ts";
import { Boundary } from "../app/boundary.tsx";
import { useFollowChanges } from "../app/follow-changes.ts";
import { useFollow } from "../app/follow.ts";
import { EnvironmentBanner } from "../app/environment.tsx";
import { lazily } from "../app/lazily.tsx";
import { Missing, needsOf, useMissing } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { componentText } from "../messages/components.ts";
import { language } from "../messages/language.ts";
import { ConnectionNotice } from "./connection-notice.tsx";
import { Layout } from "./layout.tsx";
import { LimitNotice } from "./limit-notice.tsx";
import { dismiss, useNotifications } from "../app/notifications.ts";
import { routes } from "./routes.tsx";
import { TopBar } from "./top-bar.tsx";
import { useShownTrail } from "../app/trail.ts";
import { text } from "../messages/text.ts";
import { useOpenProof } from "../session/proof.ts";
import { useMustSetUp } from "../session/set-up.ts";

const ProofDialog = lazily(async () => (await import("./proof-dialog.tsx")).ProofDialog);
const SetUpPage = lazily(async () => (await import("./set-up-page.tsx")).default, "settings");
const Retry = lazily(async () => (await import("../events/retry.tsx")).RetryMenu);
const BulkPanel = lazily(async () => (await import("../bulk/panel.tsx")).BulkPanel, "bulk");

export default function Shell() {
  const { pathname } = useLocation();
  useWatch();
  useFollowChanges();
  useFocusOnPage(pathname);
  const mustSetUp = useMustSetUp();
  const isProofAsked = useOpenProof() !== undefined;
  const isBulkRunning = useRunning().some(({ result }) => result?.bulk !== undefined);
  return (
    <I18nProvider locale={language} messages={componentText}>
      <a className="skip" href="#main">
        {text.shell.skip}
      </a>
      <div id="top">
        <EnvironmentBanner />
        <TopBar />
      </div>
      <section className="toasts" aria-label={text.shell.notifications}>
        {isBulkRunning && <BulkPanel />}
        <Notifications />
      </section>
      <Layout breadcrumbs={<Trail />}>
        <div id="main" tabIndex={-1}>
          <ConnectionNotice />
          <LimitNotice />
          <Boundary path={pathname}>
            <RetryMenu value={Retry}>
              <Suspense fallback={<Spinner size="large" />}>{mustSetUp ? <SetUpPage /> : <Pages />}</Suspense>
            </RetryMenu>
          </Boundary>
        </div>
      </Layout>
      {isProofAsked && <ProofDialog />}
    </I18nProvider>
  );
}

const Pages = () => (
  <Routes>
    {routes.map(({ path, Page: Shown }) => (
      <Route key={path} path={path} element={<Permitted path={path} Page={Shown} />} />
    ))}
  </Routes>
);

/** The page, or which permission it needs, for those who follow a link to it without. */
function Permitted({ path, Page: Shown }: { path: string; Page: ComponentType }) {
  const missing = useMissing()(...needsOf(path));
  if (missing === undefined) return <Shown />;
  return (
    <Page title={text.app.missing.title}>
      <Missing need={missing} />
    </Page>
  );
}

/** On a new page the keyboard and a screen reader start at its top, not at the last link. */
function useFocusOnPage(pathname: string): void {
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [pathname]);
}

function Trail() {
  const trail = useShownTrail();
  const follow = useFollow();
  return trail.length > 0 && <BreadcrumbGroup ariaLabel={text.shell.breadcrumbs} items={trail} onFollow={follow} />;
}

function Notifications() {
  return (
    <Flashbar
      stackItems
      items={useNotifications().map(({ id, type, header, content }) => ({
        id,
        type,
        header,
        content,
        dismissible: true,
        dismissLabel: text.shell.dismiss,
        onDismiss: () => dismiss(id),
        // Announced as well as an alert, which would take the focus from a dialog or from what somebody is typing.
        ariaRole: "status",
      }))}
    />
  );
}
