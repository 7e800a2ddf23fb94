import type { ReactNode } from "react";
import "./VisuallyHidden.css";

/** Text that is read out but not seen. */
export function VisuallyHidden({ children }: { children: ReactNode }) {
  return <span className="hb-visually-hidden">{children}</span>;
}
