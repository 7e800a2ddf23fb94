import { useEffect, type RefObject } from "react";

const FOCUSABLE = "a[href], button:not(:disabled), input:not(:disabled), [tabindex='0']";

/** Keeps Tab inside the container while it is mounted, and gives focus back when it goes. */
export function useFocusTrap(container: RefObject<HTMLElement>): void {
  useEffect(() => {
    const root = container.current;
    if (!root) return undefined;
    const previous = document.activeElement as HTMLElement | null;
    const focusable = () => Array.from(root.querySelectorAll<HTMLElement>(FOCUSABLE));

    function onKeyDown(event: KeyboardEvent) {
      if (event.key !== "Tab") return;
      const stops = focusable();
      const [edge, target] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
      if (document.activeElement === edge) {
        event.preventDefault();
        target?.focus();
      }
    }

    focusable()[0]?.focus();
    root.addEventListener("keydown", onKeyDown);
    return () => {
      root.removeEventListener("keydown", onKeyDown);
      previous?.focus();
    };
  }, [container]);
}
