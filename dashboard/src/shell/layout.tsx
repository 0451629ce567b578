// The navigation beside the page: in view on a desktop, behind a button on anything narrower. The design system's own layout
// weighs a fifth of a page, for panels that can be dragged and split.
import Button from "@cloudscape-design/components/button";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useLocation } from "react-router";
import { text } from "../messages/text.ts";
import { Navigation } from "./navigation.tsx";

const wide = window.matchMedia("(min-width: 992px)");

const useWide = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      wide.addEventListener("change", listener);
      return () => wide.removeEventListener("change", listener);
    },
    () => wide.matches,
  );

export function Layout({ breadcrumbs, children }: { breadcrumbs: ReactNode; children: ReactNode }) {
  const isWide = useWide();
  const { pathname } = useLocation();
  const [open, setOpen] = useState(isWide);
  const trail = useRef<HTMLDivElement>(null);
  useEffect(() => setOpen(isWide), [isWide]);
  useEffect(() => {
    if (!wide.matches) setOpen(false); // a link was followed
  }, [pathname]);
  useTopHeight();
  return (
    <div className="layout">
      <div className="trail" ref={trail}>
        <Button
          iconName="menu"
          variant="icon"
          ariaLabel={open ? text.shell.navigation.close : text.shell.navigation.open}
          ariaExpanded={open}
          onClick={() => setOpen(!open)}
        />
        <div className="crumbs">{breadcrumbs}</div>
      </div>
      {open && (
        <nav
          className="side"
          aria-label={text.shell.navigation.label}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || isWide) return;
            setOpen(false);
            trail.current?.querySelector("button")?.focus();
          }}
        >
          <Navigation />
        </nav>
      )}
      <main className="content">{children}</main>
    </div>
  );
}

/** The navigation stays below the top bar, whose height depends on the window's width. */
function useTopHeight(): void {
  useEffect(() => {
    const top = document.getElementById("top");
    const observer = new ResizeObserver(() => {
      document.documentElement.style.setProperty("--top", `${top?.offsetHeight ?? 0}px`);
    });
    if (top !== null) observer.observe(top);
    return () => observer.disconnect();
  }, []);
}
