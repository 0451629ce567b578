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
    if (!wide.matches) setOpen(false); // a link of the page was followed
  }, [pathname]);
  const isOver = open && !isWide;
  /** Closes the navigation; the keyboard goes on at the button that opens it. */
  const close = (): void => {
    if (!isOver) return;
    setOpen(false);
    trail.current?.querySelector("button")?.focus();
  };
  useTapBeside(isOver, () => setOpen(false));
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
          onKeyDown={({ key }) => {
            if (key === "Escape") close();
          }}
        >
          <Navigation onFollow={close} />
        </nav>
      )}
      <main className="content">{children}</main>
    </div>
  );
}

/** Outside of the navigation and of the bar with its button. */
function useTapBeside(isOver: boolean, onTap: () => void): void {
  useEffect(() => {
    if (!isOver) return undefined;
    const look = ({ target }: PointerEvent): void => {
      if (target instanceof Element && target.closest(".side, .trail") === null) onTap();
    };
    document.addEventListener("pointerdown", look);
    return () => document.removeEventListener("pointerdown", look);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it only closes
  }, [isOver]);
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
