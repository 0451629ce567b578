// The frame around every page: the top bar, the navigation, notifications, and the watch over operations.
import AppLayout from "@cloudscape-design/components/app-layout-toolbar";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Flashbar from "@cloudscape-design/components/flashbar";
import { I18nProvider } from "@cloudscape-design/components/i18n";
import messages from "@cloudscape-design/components/i18n/messages/all.en";
import Spinner from "@cloudscape-design/components/spinner";
import { Suspense, useEffect, useRef } from "react";
import { Route, Routes, useLocation } from "react-router";
import { useWatch } from "../operations/watch.ts";
import { Boundary } from "../app/boundary.tsx";
import { useFollow } from "../app/follow.ts";
import { EnvironmentBanner } from "../app/environment.tsx";
import { LimitNotice } from "./limit-notice.tsx";
import { Navigation } from "./navigation.tsx";
import { dismiss, useNotifications } from "../app/notifications.ts";
import { routes } from "./routes.tsx";
import { TopBar } from "./top-bar.tsx";
import { useShownTrail } from "../app/trail.ts";

export default function Shell() {
  const { pathname } = useLocation();
  useWatch();
  useFocusOnPage(pathname);
  return (
    <I18nProvider locale="en" messages={[messages]}>
      <a className="skip" href="#main">
        Skip to main content
      </a>
      <div id="top">
        <EnvironmentBanner />
        <TopBar />
      </div>
      <section className="toasts" aria-label="Notifications">
        <Notifications />
      </section>
      <AppLayout
        headerSelector="#top"
        breadcrumbs={<Trail />}
        navigation={<Navigation />}
        toolsHide
        ariaLabels={{ navigation: "Main navigation", navigationClose: "Close navigation", navigationToggle: "Toggle navigation" }}
        content={
          <div id="main" tabIndex={-1}>
            <LimitNotice />
            <Boundary place={pathname}>
              <Suspense fallback={<Spinner size="large" />}>
                <Routes>
                  {routes.map(({ path, Page }) => (
                    <Route key={path} path={path} element={<Page />} />
                  ))}
                </Routes>
              </Suspense>
            </Boundary>
          </div>
        }
      />
    </I18nProvider>
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
  return trail.length > 0 && <BreadcrumbGroup ariaLabel="Breadcrumbs" items={trail} onFollow={follow} />;
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
        dismissLabel: "Dismiss",
        onDismiss: () => dismiss(id),
        ariaRole: type === "error" ? "alert" : "status",
      }))}
    />
  );
}
