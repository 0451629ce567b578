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
import { load } from "./app/loading.ts";
import { loadComponentText } from "./messages/components.ts";
import { loadAreas } from "./messages/text.ts";
import { SessionRequired } from "./session/required.tsx";

const Login = lazy(() =>
  load(async () => {
    const [login] = await Promise.all([import("./login/route.tsx"), loadAreas("login")]);
    return login;
  }),
);
const Shell = lazy(() =>
  load(async () => {
    const [shell] = await Promise.all([import("./shell/shell.tsx"), loadComponentText()]);
    return shell;
  }),
);

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
