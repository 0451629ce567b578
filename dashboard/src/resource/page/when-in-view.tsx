// What is below the fold: it loads once the user scrolls to it, or stays on the page. Whoever only passes through a page costs
// few requests.
import { type ReactNode, useEffect, useRef, useState } from "react";

const STAY_MS = 3_000;

export function WhenInView({ children }: { children: ReactNode }) {
  const [isDue, setDue] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const load = (): void => setDue(true);
    const timer = setTimeout(load, STAY_MS);
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) load();
    });
    if (element.current !== null) observer.observe(element.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, []);
  return isDue ? children : <div ref={element} className="deferred" />;
}
