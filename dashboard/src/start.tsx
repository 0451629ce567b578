// Renders the sign-in page, or the shell with its pages. The sign-in page has no shell, so that it is small.
import "@cloudscape-design/global-styles/index.css";
import "./app/styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { BrokenRoute } from "./app/boundary.tsx";
import { startMode } from "./app/mode.ts";
import { queryClient } from "./app/query-client.ts";
import { EnvironmentBanner } from "./app/environment.tsx";
import { load } from "./app/loading.ts";
import { SessionRequired } from "./session/required.tsx";

const Login = lazy(() => load(() => import("./login/login.tsx")));
const Shell = lazy(() => load(() => import("./shell/shell.tsx")));

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

// A data router, because only it can keep a user on a page.
const router = createBrowserRouter([
  {
    path: "/login",
    errorElement: <BrokenRoute />,
    element: (
      <>
        <EnvironmentBanner />
        <Login />
      </>
    ),
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

startMode();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Suspense>
        <RouterProvider router={router} />
      </Suspense>
    </QueryClientProvider>
  </StrictMode>,
);
