// Renders the shell with its pages, or the sign-in page once the session has ended.
import "@cloudscape-design/global-styles/index.css";
import "./app/page.css";
import "./app/styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { BrokenRoute } from "./app/boundary.tsx";
import { startMode } from "./app/mode.ts";
import { queryClient } from "./app/query-client.ts";
import { loadDeployment } from "./app/deployment.ts";
import { withAreas } from "./app/with-areas.ts";
import { SessionRequired } from "./session/required.tsx";

const Login = lazy(withAreas(() => import("./login/route.tsx"), "login"));
const Shell = lazy(withAreas(() => import("./shell/shell.tsx"))); // main.tsx has loaded it already, with the components' own text

/** A data router, because only it can keep a user on a page. */
const newRouter = () =>
  createBrowserRouter([
    {
      path: "/login",
      errorElement: <BrokenRoute />,
      element: <Login />,
    },
    {
      path: "*",
      errorElement: <BrokenRoute />,
      element: (
        <SessionRequired>
          <Shell />
        </SessionRequired>
      ),
    },
  ]);

/** `end` removes what the page showed before. */
export async function start(root: HTMLElement, end: () => void): Promise<void> {
  startMode();
  await loadDeployment();
  end();
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Suspense>
          <RouterProvider router={newRouter()} />
        </Suspense>
      </QueryClientProvider>
    </StrictMode>,
  );
}
